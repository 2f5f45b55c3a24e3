// Any bytes as letters between nodes: nothing, or one that is read as it was written.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "wire/native/network.hpp"

namespace pubsub::fuzz {

namespace {

void try_input(std::span<const std::byte> bytes) {
  const auto report = [](const auto& x) { return wire::make_report(x); };
  check_frame(bytes, wire::parse_neighbours, report);
  check_frame(bytes, wire::parse_filter_report, report);
  check_frame(bytes, wire::parse_question, wire::make_question);
  check_frame(bytes, wire::parse_answer, wire::make_answer);
  check_frame(bytes, wire::parse_flush, wire::make_flush);
  check_frame(bytes, wire::parse_flushed, wire::make_flushed);
  check(wire::make_known().size() == 5, "what has no content is its kind");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
