// Inputs that fuzz_status begins with.
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::status_seeds {

namespace {

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

const target_seeds announced{"status", seeds, words};

} // namespace

} // namespace pubsub::fuzz::status_seeds
