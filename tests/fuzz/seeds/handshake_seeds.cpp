// Inputs that fuzz_handshake begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::handshake_seeds {

namespace {

std::vector<std::string> seeds() {
  const auto magic = std::string{"5a45454b"};
  const auto large = std::string(32, 'f');
  const auto small = std::string(32, '1');
  const auto mine = std::string{"18181818181818181818181818181818"};
  const auto hello = [&](const std::string& id, const std::string& versions) {
    return "00000017 06" + magic + id + versions;
  };
  const auto select = [&](const std::string& id, const std::string& version) {
    return "00000016 08" + magic + id + version;
  };
  const std::string probe = "00000005 07" + magic;
  const std::string syn = "00000005 0a01022f61";
  const std::string syn_ack = "00000005 0b01022f61";
  const std::string ack = "00000001 0c";
  const auto drop = [&](const std::string& code) {
    return "00000018 09" + magic + large + code + "0178";
  };
  std::vector<std::string> talks{
      hello(large, "0101") + syn_ack,
      hello(large, "0102") + syn_ack,
      hello(small, "0101") + select(small, "01") + syn + ack,
      hello(small, "0102") + select(small, "02") + syn + ack,
      probe + select(small, "02") + syn + ack + ack,
      probe + hello(large, "0101") + syn_ack + probe,
      hello(small, "0101") + select(large, "01"),
      select(small, "09"),
      select(large, "01"),
      select(std::string(32, '0'), "01"),
      hello(mine, "0101"),
      hello(std::string(32, '0'), "0101"),
      hello(large, "0303"),
      "00000017 06 00000000" + large + "0101",
      "00000016 08 00000000" + small + "01",
      "00000005 07 00000000",
      "00000003 075a45",
      "00000003 065a45",
      "00000003 085a45",
      "00000003 095a45",
      "00000002 0aff",
      hello(small, "0101") + select(small, "01") + "00000002 0aff",
      drop("27"),
      drop("02"),
      drop("29"),
      hello(large, "0101") + drop("27"),
      hello(large, "0101") + probe + syn_ack,
      "00000000",
      "00000001 63",
      syn,
      syn_ack,
      ack,
      probe + probe + hello(large, "0101") + hello(large, "0101"),
      select(small, "01") + select(small, "01"),
  };
  std::vector<std::string> out;
  for (const auto& talk : talks)
    for (const auto* choice :
         {"0000", "0100", "0001", "0101", "0041", "0102", "0003", "0104", "0280", "0380"})
      out.push_back(from_hex(choice + talk));
  return out;
}

std::vector<std::string> words() {
  auto out = binary_words();
  for (const auto& each : test::load_golden("wire_messages.json")) {
    if (each.bytes.size() > 200)
      continue;
    const auto size = static_cast<char>(each.bytes.size());
    out.push_back(std::string{"\0\0\0", 3} + size + as_text(each.bytes));
  }
  return out;
}

const target_seeds announced{"handshake", seeds, words};

} // namespace

} // namespace pubsub::fuzz::handshake_seeds
