// Any bytes as a batch of log records: refused, or one that survives being written again.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <pubsub/zeek/log_batch.hpp>

#include <optional>

namespace pubsub::fuzz {

namespace {

void try_input(std::span<const std::byte> bytes) {
  std::optional<expected<zeek::log_batch>> read;
  {
    const auto bound = bounded_by(bytes.size());
    read = zeek::parse_log_batch(bytes);
  }
  if (!*read) {
    check(!read->error().context().empty(), "an error says where");
    return;
  }
  const auto& batch = **read;
  check(9 * batch.records.size() * batch.columns.size() <= bytes.size(),
        "each value takes its bytes");
  // A value may be of another type than its column, which no logger would write.
  const auto written = zeek::encode_log_batch(batch);
  if (!written)
    return;
  const auto again = zeek::parse_log_batch(*written);
  check(again.has_value(), "what was written is read");
  const auto once_more = zeek::encode_log_batch(*again);
  check(once_more.has_value() && *once_more == *written, "writing is stable");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
