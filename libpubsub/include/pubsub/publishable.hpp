// What can be published or sent, and what became of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include <pubsub/data.hpp>
#include <pubsub/data_message.hpp>

namespace pubsub {

/// A value, as `data` or whatever converts to it, or one that is already encoded as bin::v1 (see
/// data_writer). Made from an argument where a function takes one; refers to lvalues and bytes, and
/// so is not to be kept. Encoded bytes must be valid where the function says so.
class encodable {
public:
  encodable(const data& value) : form_(&value) {}
  encodable(data&& value) : form_(std::move(value)) {}
  template <std::convertible_to<data> T>
  requires(!std::same_as<std::remove_cvref_t<T>, data>) encodable(T&& value)
      : form_(data(std::forward<T>(value))) {}
  template <std::convertible_to<std::span<const std::byte>> T>
  encodable(const T& encoded) : form_(std::span<const std::byte>{encoded}) {}

  /// The bytes; nothing if it is a value.
  const std::span<const std::byte>* encoded() const noexcept {
    return std::get_if<std::span<const std::byte>>(&form_);
  }
  /// The value; only where it is not encoded.
  const data& value() const {
    const auto* borrowed = std::get_if<const data*>(&form_);
    return borrowed != nullptr ? **borrowed : std::get<data>(form_);
  }
  /// The value for one who keeps it: moved out of a temporary, copied from an lvalue.
  data take() && {
    auto* own = std::get_if<data>(&form_);
    return own != nullptr ? std::move(*own) : value();
  }

private:
  std::variant<const data*, data, std::span<const std::byte>> form_;
};

/// What can be published on a topic: a value, encoded bytes, or the value of a message, of which
/// nothing is copied where its topic is the same.
class publishable {
public:
  template <std::convertible_to<encodable> T>
  requires(!std::same_as<std::remove_cvref_t<T>, publishable>) publishable(T&& value)
      : form_(std::in_place_type<encodable>, std::forward<T>(value)) {}
  publishable(const data_message& msg) : form_(&msg) {}

  /// The message; null if it is none.
  const data_message* message() const noexcept {
    const auto* msg = std::get_if<const data_message*>(&form_);
    return msg != nullptr ? *msg : nullptr;
  }
  /// Only where it is not a message.
  const encodable& content() const { return std::get<encodable>(form_); }
  encodable& content() { return std::get<encodable>(form_); }

private:
  std::variant<const data_message*, encodable> form_;
};

/// What became of a published message.
enum class [[nodiscard]] publish_result : std::uint8_t{
    taken,       ///< every matching subscriber and link took it
    unwanted,    ///< no subscriber and no node has this topic in its filter
    dropped,     ///< at least one queue was full and its policy dropped a message (counted there)
    would_block, ///< a queue with policy `block` is full, or the route to a node is being changed,
                 ///< and waiting was not wanted, or was in vain; no queue got the message
    refused,     ///< reserved or over-long topic, message too large, or endpoint closed
};

} // namespace pubsub
