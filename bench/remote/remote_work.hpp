// What is asked of a client of `bench remote`: so many operations, in a mode; and what came of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/pattern/remote_options.hpp>

namespace pubsub::tool::bench {

enum class operation_kind : unsigned char { noop, faop };

std::string_view to_string(operation_kind x) noexcept;

/// Operations of equal size.
struct remote_work {
  operation_kind operation = operation_kind::noop;
  std::size_t operations = 1;
  std::size_t size_bytes = 24; ///< of a result
  /// So many times after another, each with its share of the operations, each when the one before
  /// is done.
  std::size_t parts = 1;
  std::chrono::microseconds work{0}; ///< a NOOP takes so long
  std::size_t ballast_bytes = 0;     ///< so much longer the argument of a NOOP is

  friend bool operator==(const remote_work&, const remote_work&) = default;
};

/// The file that FAOP reads from, in the served folder, and its size.
inline constexpr const char* served_file = "served.bin";
inline constexpr std::size_t served_bytes = std::size_t{16} << 20;

/// Bytes of an argument and of a result as encoded.
std::size_t argument_bytes(const remote_work& x);
std::size_t result_bytes(const remote_work& x);
/// All arguments, one behind the other.
std::vector<std::byte> arguments_of(const remote_work& x);

/// A line that a client is told: the work is repeated for at least so long.
struct remote_order {
  remote_mode mode = remote_mode::sync;
  remote_work what;
  double least_s = 0;

  std::string text() const;
  /// Nothing where the line is no order.
  static std::optional<remote_order> parse(const std::string& line);
};

/// What a client reports: medians and means of the repeats.
struct remote_sample {
  double seconds = 0;
  double sent_bytes = 0; ///< to links, in one repeat; headers included
  double received_bytes = 0;
  remote_plan plan; ///< at the end
};

} // namespace pubsub::tool::bench
