// Any text as a TSV log.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/log_lines.hpp"
#include "fuzz/target.hpp"

namespace pubsub::fuzz {

namespace {

void try_input(std::span<const std::byte> bytes) {
  const auto parser = zeek::make_tsv_log_parser("x");
  // names and types of columns come again with each error and each record
  const memory_bound bound{1024 * 1024 + 4096 * bytes.size() + 8 * bytes.size() * bytes.size()};
  try_lines(*parser, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
