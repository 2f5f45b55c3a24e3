// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/record/recording_options.hpp>

namespace pubsub::record {

namespace {

expected<void> check(const chunk_options& options) {
  constexpr int highest_level = 19;
  constexpr std::size_t smallest = 1024;
  constexpr std::size_t largest = 256 * 1024 * 1024;
  if (options.compression_level < 0 || options.compression_level > highest_level)
    return error{errc::invalid_argument, "compression_level must be 0 to 19"};
  if (options.chunk_bytes < smallest || options.chunk_bytes > largest)
    return error{errc::invalid_argument, "chunk_bytes must be 1 KiB to 256 MiB"};
  if (options.chunk_time.count() <= 0)
    return error{errc::invalid_argument, "chunk_time must be more than 0"};
  return {};
}

} // namespace

expected<void> check(const writer_options& options) {
  if (options.split_time.count() < 0)
    return error{errc::invalid_argument, "split_time must not be negative"};
  return check(options.chunks);
}

expected<void> check(const ring_options& options) {
  if (options.max_time.count() < 0)
    return error{errc::invalid_argument, "max_time must not be negative"};
  if (options.max_bytes == 0 && options.max_time.count() == 0)
    return error{errc::invalid_argument, "a ring needs max_bytes or max_time"};
  return check(options.chunks);
}

} // namespace pubsub::record
