// Any bytes as letters between nodes: nothing, or one that is read as it was written.
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "wire/native/network.hpp"

namespace pubsub::fuzz {

namespace {

/// But for spellings of counts, and flags without a meaning.
template <class Parse, class Make>
void try_letter(std::span<const std::byte> bytes, Parse parse, Make make) {
  decltype(parse(bytes)) x;
  {
    const auto bound = bounded_by(bytes.size());
    x = parse(bytes);
  }
  if (!x)
    return;
  const auto once = make(*x);
  const auto again = parse(std::span{once}.subspan(4));
  check(again && make(*again) == once, "a letter is read as it was written");
}

void try_input(std::span<const std::byte> bytes) {
  const auto report = [](const auto& x) { return wire::make_report(x); };
  try_letter(bytes, wire::parse_neighbours, report);
  try_letter(bytes, wire::parse_filter_report, report);
  try_letter(bytes, wire::parse_question, wire::make_question);
  try_letter(bytes, wire::parse_answer, wire::make_answer);
  try_letter(bytes, wire::parse_flush, wire::make_flush);
  try_letter(bytes, wire::parse_flushed, wire::make_flushed);
  check(wire::make_known().size() == 5, "what has no content is its kind");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
