// Any bytes as letters between nodes: nothing, or one that is read as it was written.
#include "fuzz/check.hpp"
#include "fuzz/golden_seeds.hpp"
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

} // namespace

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

std::vector<std::string> seeds() {
  const std::string a(32, 'a');
  const std::string b(32, 'b');
  const auto about = a + "0000000000000001 0000000000000002";
  std::vector<std::string> out;
  for (const auto& hex :
       {"03 03" + about + "01" + b + "00", "03 00" + about + "00 02" + b + a,
        "03 01" + about + "ff",
        "03 01" + std::string(32, '0') + "0000000000000001 0000000000000002 00 00",
        "03 01" + a + "0000000000000001 0000000000000000 00 00",
        "04 01" + about + "02 022f61 00 00", "04 00" + about + "00 01 017a", "04 00" + about + "7f",
        "04 00" + about + "01 ffff03", "07 05" + a + "01" + b, "07 05" + a + "02" + b,
        "08 05" + a + b + "0000000000000001 0000000000000002", "08 05" + a,
        "09 03" + a + "00000007 01" + b, "09 10" + a + "00000007 01" + b,
        "0a 05" + a + "00000007 01" + b, "0a 05" + a, std::string{"05"}, std::string{}})
    out.push_back(from_hex(hex));
  out.push_back(from_hex("04 00" + about + "01 808004") + std::string(65'536, 'x') +
                std::string(1, '\0'));
  return out;
}

std::vector<std::string> words() {
  auto out = binary_words();
  out.push_back(from_hex(std::string(32, 'b')));
  return out;
}

} // namespace pubsub::fuzz
