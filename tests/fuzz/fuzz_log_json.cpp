// Any text as a JSON log.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/log_lines.hpp"
#include "fuzz/target.hpp"

namespace pubsub::fuzz {

namespace {

void try_input(std::span<const std::byte> bytes) {
  const auto parser = zeek::make_json_log_parser("x");
  const memory_bound bound{8 * 1024 * 1024 + 16 * 1024 * bytes.size() +
                           8 * bytes.size() * bytes.size()};
  try_lines(*parser, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
