// Any bytes as a filter: nothing, or the fewest prefixes that match what all of them match.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "base/byte_reader.hpp"
#include "base/byte_writer.hpp"
#include "wire/broker/envelope.hpp"

#include <algorithm>

namespace pubsub::fuzz {

namespace {

/// Every prefix as it stands in the bytes of a filter.
std::vector<std::string_view> spelled_out(std::span<const std::byte> bytes) {
  byte_reader in{bytes};
  std::uint32_t left = 0;
  std::vector<std::string_view> out;
  std::string_view prefix;
  for (check(in.read_varbyte(left), "a filter has a count"); left > 0; --left) {
    check(in.read_string(prefix), "a filter has as many prefixes as it says");
    out.push_back(prefix);
  }
  return out;
}

void try_input(std::span<const std::byte> bytes) {
  expected<filter> x = errc::unspecified;
  {
    const auto bound = bounded_by(bytes.size());
    x = wire::parse_filter(bytes);
  }
  if (!x)
    return;
  const auto once = byte_writer{}.add(*x).take();
  check(*wire::parse_filter(once) == *x, "a filter is read as it was written");
  const auto all = spelled_out(bytes);
  check(x->size() <= all.size(), "nothing is added");
  for (const auto& prefix : all)
    check(x->matches(prefix), "each prefix matches itself");
  const std::vector<std::string> kept{x->begin(), x->end()};
  check(std::ranges::is_sorted(kept), "prefixes are in order");
  for (std::size_t i = 1; i < kept.size(); ++i)
    check(!kept[i].starts_with(kept[i - 1]), "no prefix is there that another one covers");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
