// How the core builds messages and takes them apart; users see only data_message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_message.hpp>

#include "data/encoded.hpp"
#include "message/message_run.hpp"

namespace pubsub {

/// A value as it was published in this process, with its topic.
class value_storage final : public message_storage {
public:
  value_storage(std::string_view topic, data value) : topic_(topic), value_(std::move(value)) {}

  const std::string& topic() const noexcept { return topic_; }
  const data& value() const noexcept { return value_; }
  /// Only for the holder of the single reference; forgets the encoded form.
  data& edit() const noexcept;
  /// Bytes of the value in bin::v1, measured by `measure` for the first caller.
  template <class F>
  std::size_t encoded_size(F measure) const {
    auto size = encoded_size_.load(std::memory_order_relaxed);
    if (size == 0)
      encoded_size_.store(size = measure(value_), std::memory_order_relaxed);
    return size;
  }
  /// The value in bin::v1. Two first callers at once both encode it, and one encoding stays.
  std::span<const std::byte> encoded() const;

private:
  ~value_storage() override { delete encoded_.load(std::memory_order_relaxed); }
  void destroy() const noexcept override { delete this; }

  std::string topic_;
  mutable data value_;
  mutable std::atomic<std::size_t> encoded_size_{0}; // 0: not known yet
  mutable std::atomic<const std::vector<std::byte>*> encoded_{nullptr};
};

/// The decoded form of a slice, shared by all handles that were copied from one another. Not a
/// std::once_flag: its first caller enters the kernel to wake others, though none may wait.
struct data_message::decoded_value {
  mutable std::atomic<std::uint32_t> refs{1};
  mutable std::atomic<bool> ready{false};
  mutable std::mutex mutex; // held while value is made
  mutable data value;
};

class message_access {
public:
  /// Appends a slice of `owner`, one of whose references the message takes over: `payload_size`
  /// bytes at `payload`, marked as checked if they are a value. `topic_size` is 0 in a run of
  /// records.
  static void add_slice(std::vector<data_message>& to, const message_run* owner,
                        const std::byte* payload, std::uint16_t topic_size,
                        std::uint32_t payload_size) {
    auto& msg = to.emplace_back();
    msg.owner_ = owner;
    msg.bytes_ = payload;
    msg.topic_size_ = topic_size;
    msg.payload_size_ = payload_size;
    msg.checked_ = is_encoded_value({payload, payload_size});
  }
  static data_message value(std::string_view topic, data x);
  /// A message that takes over a reference of `storage`.
  static data_message adopt(const value_storage* storage) noexcept {
    data_message msg;
    msg.owner_ = storage;
    return msg;
  }

  /// Validates the payload of a slice once. False if it is not exactly one value.
  static bool check(data_message& msg) {
    if (msg.checked_ || msg.bytes_ == nullptr)
      return true;
    msg.checked_ = is_encoded_value({msg.bytes_, msg.payload_size_});
    return msg.checked_;
  }

  static bool is_slice(const data_message& msg) noexcept { return msg.bytes_ != nullptr; }
  static std::string_view topic(const data_message& msg) noexcept {
    if (is_slice(msg))
      return run_of(msg)->topic_of(msg.bytes_, msg.topic_size_);
    return msg ? std::string_view{stored_value(msg)->topic()} : std::string_view{};
  }
  /// The run a slice belongs to.
  static const message_run* run_of(const data_message& msg) noexcept {
    return static_cast<const message_run*>(msg.owner_);
  }
  /// The encoded value; a locally built one is encoded on first use.
  static std::span<const std::byte> payload(const data_message& msg);
  /// Null for slices and empty messages.
  static const value_storage* stored_value(const data_message& msg) noexcept {
    return msg.bytes_ == nullptr ? static_cast<const value_storage*>(msg.owner_) : nullptr;
  }
  static const data& decoded(const data_message& msg);
  static data& edit(data_message& msg);

  static const data_message::decoded_value* new_decoded() {
    return new data_message::decoded_value;
  }
  static const data_message::decoded_value*
  acquire(const data_message::decoded_value* slot) noexcept {
    return data_message::acquire_decoded(slot);
  }
  static void release(const data_message::decoded_value* slot) noexcept {
    data_message::release_decoded(slot);
  }

private:
  static const data_message::decoded_value* slot_of(const data_message& msg);
};

} // namespace pubsub
