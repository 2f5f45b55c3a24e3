// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/community_id.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <openssl/evp.h>

namespace pubsub::bridge {

namespace {

using type_and_answer = std::pair<std::uint8_t, std::uint8_t>;

// Messages of ICMP that are questions, with the type of their answer: the two are one flow.
constexpr std::array<type_and_answer, 10> icmp_pairs{
    {{8, 0}, {0, 8}, {13, 14}, {14, 13}, {15, 16}, {16, 15}, {17, 18}, {18, 17}, {10, 9}, {9, 10}}};
constexpr std::array<type_and_answer, 10> icmp6_pairs{{{128, 129},
                                                       {129, 128},
                                                       {133, 134},
                                                       {134, 133},
                                                       {135, 136},
                                                       {136, 135},
                                                       {130, 131},
                                                       {131, 130},
                                                       {144, 145},
                                                       {145, 144}}};

std::optional<std::uint8_t> answer_to(std::uint16_t type, bool v4) {
  const auto& pairs = v4 ? icmp_pairs : icmp6_pairs;
  const auto found =
      std::ranges::find_if(pairs, [&](const type_and_answer& x) { return x.first == type; });
  return found == pairs.end() ? std::optional<std::uint8_t>{} : found->second;
}

std::uint8_t number_of(transport protocol, bool v4) {
  constexpr std::uint8_t icmp = 1;
  constexpr std::uint8_t tcp = 6;
  constexpr std::uint8_t udp = 17;
  constexpr std::uint8_t icmp6 = 58;
  switch (protocol) {
  case transport::tcp:
    return tcp;
  case transport::udp:
    return udp;
  case transport::icmp:
    return v4 ? icmp : icmp6;
  default:
    return 0;
  }
}

void add_address_bytes(std::vector<unsigned char>& out, const address& x) {
  const auto& bytes = x.bytes();
  constexpr std::ptrdiff_t before_v4 = 12;
  out.insert(out.end(), bytes.begin() + (x.is_v4() ? before_v4 : 0), bytes.end());
}

void add_number(std::vector<unsigned char>& out, std::uint16_t x) {
  out.push_back(static_cast<unsigned char>(x >> 8U));
  out.push_back(static_cast<unsigned char>(x & 0xffU));
}

std::string base64(std::span<const unsigned char> bytes) {
  std::string result((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const auto size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(result.data()), bytes.data(),
                                    static_cast<int>(bytes.size()));
  result.resize(static_cast<std::size_t>(size));
  return result;
}

} // namespace

std::string community_id_of(const flow_ends& x) {
  auto from = std::pair{x.from, x.from_port};
  auto to = std::pair{x.to, x.to_port};
  bool one_way = false;
  if (x.protocol == transport::icmp) {
    const auto answer = answer_to(x.from_port, x.from.is_v4());
    one_way = !answer;
    if (answer)
      to.second = *answer;
  }
  // The lower end comes first, so that both directions are one flow.
  if (!one_way &&
      std::pair{to.first.bytes(), to.second} < std::pair{from.first.bytes(), from.second})
    std::swap(from, to);
  std::vector<unsigned char> text;
  add_number(text, 0); // the seed
  add_address_bytes(text, from.first);
  add_address_bytes(text, to.first);
  text.push_back(number_of(x.protocol, x.from.is_v4()));
  text.push_back(0);
  add_number(text, from.second);
  add_number(text, to.second);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return "1:" + base64(std::span{digest}.first(size));
}

} // namespace pubsub::bridge
