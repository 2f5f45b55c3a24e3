// Any bytes as a question how a node is, or the answer: written as it was read.
#include "fuzz/check.hpp"
#include "fuzz/golden_seeds.hpp"
#include "fuzz/target.hpp"

#include "format/utf8.hpp"
#include "wire/native/status_frame.hpp"

#include <algorithm>

namespace pubsub::fuzz {

void try_input(std::span<const std::byte> bytes) {
  std::optional<wire::status_frame> x;
  {
    const memory_bound none{0};
    x = wire::parse_status_frame(bytes);
  }
  if (!x)
    return;
  check(wire::is_status_frame(bytes), "it is one");
  check(x->text.size() <= wire::max_status_text_bytes && is_utf8(x->text),
        "its text is short and in UTF-8");
  const auto again = x->kind == wire::status_kind::request
                         ? wire::make_status_request(x->number)
                         : wire::make_status_reply(x->number, x->text);
  check(std::ranges::equal(std::span{again}.subspan(4), bytes),
        "a status frame is written as it was read");
}

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  for (const auto* hex :
       {"10 00000007", "11 00000007 7b226964223a22c3a4227d", "11 00000007 f09f9880 e282ac",
        "11 00000007 eda080", "11 00000007 c080", "11 00000007 f4908080", "11 00000007 e2",
        "10 00000007 61", "11 0000", "12 00000007"})
    out.push_back(from_hex(hex));
  out.push_back(from_hex("11 00000007") + std::string(64'001, 'x'));
  out.push_back(from_hex("11 00000007") + std::string(64'000, 'x'));
  return out;
}

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (const auto* hex :
       {"c3a4", "e282ac", "f09f9880", "eda080", "c080", "f4908080", "e08080", "f0808080", "ff"})
    out.push_back(from_hex(hex));
  return out;
}

} // namespace pubsub::fuzz
