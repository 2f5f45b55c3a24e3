// Any bytes as the record in a LogWrite: refused, or values that survive being written again.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"
#include "support/log_values.hpp"

#include <pubsub/zeek/message.hpp>

#include <optional>

namespace pubsub::fuzz {

namespace {

void try_input(std::span<const std::byte> bytes) {
  std::optional<expected<vector>> record;
  {
    const auto bound = bounded_by(bytes.size());
    record = zeek::parse_log_values(bytes);
  }
  if (!*record) {
    check(record->error().context().starts_with("column "), "an error says where");
    return;
  }
  const auto& values = **record;
  check(9 * values.size() + 4 <= bytes.size(), "each column takes its bytes");
  const auto once = test::log_values_writer::write(values);
  const auto again = zeek::parse_log_values(once);
  check(again.has_value(), "what was written is read");
  check(*again == values, "what was written is read as it was");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
