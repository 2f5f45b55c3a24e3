// Inputs that fuzz_event begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::event_seeds {

namespace {

std::vector<std::string> seeds() {
  auto out = golden_bytes({"zeek_messages.json"});
  const auto v1 = std::string{"0e03 020000000000000001 "};
  const auto kind = [](int n) { return "02000000000000000" + std::to_string(n) + " "; };
  const auto names = std::string{"0b0141 0b0142 "};
  const auto column = [](const std::string& type) {
    return "0e05 0501 61 00 02" + std::string(14, '0') + type + " 02" + std::string(14, '0') +
           "16 0101 ";
  };
  for (const auto& hex :
       {v1 + kind(2) + "0e04" + names + "0e01 050161 0e02" + column("05") + column("13"),
        v1 + kind(2) + "0e04" + names + "00 0e01" + column("0e"),
        v1 + kind(2) + "0e04" + names + "00 0e01" + column("17"),
        v1 + kind(2) + "0e04" + names + "00 050161",
        v1 + kind(2) + "0e04 050161 0b0141 0e00 0e00",
        v1 + kind(3) + "0e04 0b0141 050161 050161 050161",
        v1 + kind(3) + "0e04" + names + "00 050161",
        v1 + kind(3) + "0e04" + names + "050161 00",
        v1 + kind(3) + "0e02" + names,
        v1 + kind(2) + "0e02" + names,
        v1 + kind(4) + "0e01 050161",
        v1 + kind(0) + "0e00",
        v1 + kind(6) + "0e00",
        v1 + kind(1) + "0e00",
        v1 + kind(5) + "0e01 00",
        v1 + "00 00",
        std::string{"0e03 020000000000000002 00 00"},
        std::string{"00"},
        v1 + kind(1) + "0e03 050161 0e00 00",
        v1 + kind(1) + "0e03 050161 0e00 0e01 00",
        v1 + kind(1) + "0e03 050161 0e00 0e01 0e02 00 00",
        v1 + kind(1) + "0e03 050161 0e00 0e01 0e02 020000000000000001 00"})
    out.push_back(from_hex(hex));
  return out;
}

std::vector<std::string> words() {
  auto out = binary_words();
  for (const auto* hex :
       {"0e03020000000000000001020000000000000005", "0e03020000000000000001020000000000000001",
        "020000000000000002", "020000000000000003", "020000000000000004", "0e020501610e00"})
    out.push_back(from_hex(hex));
  return out;
}

const target_seeds announced{"event", seeds, words};

} // namespace

} // namespace pubsub::fuzz::event_seeds
