// Writing encoded values piece by piece, without building a tree first (format bin::v1).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/export.hpp>
#include <pubsub/value/address.hpp>
#include <pubsub/value/port.hpp>
#include <pubsub/value/subnet.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub {

/// Appends values to a growing buffer in the order of the calls. A container is begun with its
/// number of elements and its elements follow, each a value of its own: `n` members for a set or
/// vector, `n` times key then value for a table. Members of a set and keys of a table must be
/// written in ascending order without duplicates; neither that nor the number of elements is
/// checked here, so pass what was written for others through `data_view::make` when in doubt.
/// Not for concurrent use. Strings and containers hold fewer than 2^32 elements (assert).
class PUBSUB_EXPORT data_writer {
public:
  data_writer() = default;
  data_writer(const data_writer&) = default;
  data_writer(data_writer&& from) noexcept
      : bytes_(std::move(from.bytes_)), used_(std::exchange(from.used_, 0)) {}
  data_writer& operator=(data_writer from) noexcept {
    bytes_.swap(from.bytes_);
    std::swap(used_, from.used_);
    return *this;
  }
  ~data_writer() = default;

  void write_none();
  void write_boolean(bool x);
  void write_count(std::uint64_t x);
  void write_integer(std::int64_t x);
  /// Infinities and NaN get Broker's bit patterns, subnormals become zero.
  void write_real(double x);
  void write_string(std::string_view x);
  /// A string of `size_bytes` zeros, to be filled in place: by reading a file, say. What is
  /// returned is valid until the next call of a member that is not const.
  std::span<std::byte> write_blank_string(std::size_t size_bytes);
  void write_address(const address& x);
  void write_subnet(const subnet& x);
  void write_port(port x);
  void write_timestamp(timestamp x);
  void write_timespan(timespan x);
  void write_enum(std::string_view name);
  void begin_set(std::size_t n);
  void begin_table(std::size_t n);
  void begin_vector(std::size_t n);
  /// A whole tree.
  void write(const data& x);
  /// A value that is encoded already, tag included; must be valid.
  void write_encoded(std::span<const std::byte> value);

  /// What was written so far; valid until the next call of a member that is not const.
  std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), used_}; }
  std::size_t size_bytes() const noexcept { return used_; }
  void reserve(std::size_t size_bytes) { bytes_.reserve(size_bytes); }
  /// Forgets what was written and keeps the memory.
  void clear() noexcept { used_ = 0; }
  /// Forgets everything written after the first `size_bytes` bytes.
  void truncate(std::size_t size_bytes) noexcept;
  /// Hands the buffer over; the writer is empty afterwards.
  std::vector<std::byte> take() noexcept;

private:
  std::byte* grow(std::size_t size_bytes);
  void make_room(std::size_t size_bytes);
  std::byte* begin_text(data_type type, std::size_t size_bytes);
  void write_text(data_type type, std::string_view x);
  void begin(data_type type, std::size_t n);

  std::vector<std::byte> bytes_; // more than were written: room is zeroed once, not for each value
  std::size_t used_ = 0;
};

} // namespace pubsub
