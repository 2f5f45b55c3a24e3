// Inputs that fuzz_network begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::network_seeds {

namespace {

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

const target_seeds announced{"network", seeds, words};

} // namespace

} // namespace pubsub::fuzz::network_seeds
