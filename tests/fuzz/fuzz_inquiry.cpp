// Any bytes as an inquiry, a reply, or the hops of a trace: nothing, or read as it was written.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "wire/native/inquiry.hpp"

namespace pubsub::fuzz {

namespace {

void try_hops(std::string_view body) {
  std::optional<std::vector<trace_hop>> x;
  {
    const auto bound = bounded_by(body.size());
    x = wire::read_hops(body);
  }
  if (!x)
    return;
  const auto once = wire::write_hops(*x, 2 * body.size() + 1);
  const auto again = wire::read_hops(once);
  check(again && again->size() == x->size() && wire::write_hops(*again, once.size()) == once,
        "hops are read as they were written");
}

void try_input(std::span<const std::byte> bytes) {
  check_frame(bytes, wire::parse_inquiry, wire::make_inquiry);
  check_frame(bytes, wire::parse_reply, wire::make_reply);
  try_hops({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
