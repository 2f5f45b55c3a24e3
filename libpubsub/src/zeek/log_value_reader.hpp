// Reading values of logs, as Zeek's threads write them, off the front of untrusted bytes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>

#include "base/byte_reader.hpp"

namespace pubsub::zeek {

/// Each member that reads returns false at the first thing that is wrong; `failure` then says what
/// it was and at which byte, and nothing more is to be read.
class log_value_reader {
public:
  static constexpr std::size_t min_value_bytes = 9; // type, subtype, and whether it is there

  explicit log_value_reader(std::span<const std::byte> bytes) noexcept : in_(bytes) {}

  std::size_t remaining() const noexcept { return in_.remaining(); }

  /// One value; none where it is unset.
  bool value(data& out);
  template <std::integral T>
  bool number(T& out) {
    return in_.read(out) || ended();
  }
  /// A length and that many bytes.
  bool text(std::string& out);
  /// Whether nothing is left.
  bool finish(std::string_view what_was_last) {
    at_ = in_.offset();
    return in_.at_end() || bad("bytes behind " + std::string{what_was_last});
  }

  /// These return false.
  bool bad(std::string what) { return fail(errc::invalid_data, std::move(what)); }
  bool too_many(std::int64_t n, std::string_view of_what) {
    return fail(errc::end_of_file,
                std::to_string(n) + " " + std::string{of_what} + " do not fit into the rest");
  }

  error failure(const std::string& where) const {
    return {code_, where + ", byte " + std::to_string(at_) + ": " + what_};
  }
  /// What follows begins here, for `failure`.
  void mark() noexcept { at_ = in_.offset(); }

private:
  bool fail(errc code, std::string what) {
    code_ = code;
    what_ = std::move(what);
    return false;
  }
  bool ended() { return fail(errc::end_of_file, "the record ends within a value"); }

  bool value(data& out, std::uint32_t depth_left);
  bool present_value(std::int32_t tag, data& out, std::uint32_t depth_left);
  template <class As>
  bool plain(data& out);
  bool seconds(std::int64_t& nanoseconds);
  bool read_port(data& out);
  bool read_address(address& out);
  bool read_subnet(data& out);
  template <class Insert>
  bool members(std::uint32_t depth_left, Insert insert);
  bool read_set(data& out, std::uint32_t depth_left);
  bool read_vector(data& out, std::uint32_t depth_left);

  byte_reader in_;
  std::size_t at_ = 0; // where the value begins that is being read
  errc code_ = errc::none;
  std::string what_;
};

} // namespace pubsub::zeek
