// Inputs that fuzz_frame begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include "base/bytes.hpp"

namespace pubsub::fuzz::frame_seeds {

namespace {

std::vector<std::string> seeds() {
  std::string all;
  for (const auto& each : test::load_golden("wire_messages.json")) {
    std::byte length[4];
    store_be(length, static_cast<std::uint32_t>(each.bytes.size()));
    all += std::string{reinterpret_cast<const char*>(length), 4} + as_text(each.bytes);
  }
  const std::string batch = from_hex("80000bb8") + std::string(3000, 'x');
  std::string many; // longer than two buffers
  while (many.size() < 700'000)
    many += from_hex("00000800") + std::string(2048, 'x');
  const std::string long_one = from_hex("000493e0") + std::string(300'000, 'x');
  std::vector<std::string> out{from_hex("00ff") + many, from_hex("01ff") + many + long_one,
                               from_hex("00ff") + many + long_one + long_one + all};
  for (const auto* choice : {"00ff", "01ff", "0001", "0107", "00c8"})
    for (const auto& stream :
         {all, batch + all, all + from_hex("01000001"), all + from_hex("7fffffff"),
          all + from_hex("ffffffff"), from_hex("00000000 00000000 00000001 07 0000"),
          from_hex("01000000 00000020 0000000000000000"), from_hex("01000000 07"),
          from_hex("160301012501000121"), all + from_hex("160301012501000121")})
      out.push_back(from_hex(choice) + stream);
  return out;
}

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (const auto* hex :
       {"00000000", "00000001", "80000001", "01000000", "01000001", "80010041", "7fffffff"})
    out.push_back(from_hex(hex));
  return out;
}

const target_seeds announced{"frame", seeds, words};

} // namespace

} // namespace pubsub::fuzz::frame_seeds
