// Any frames as what a peer says in the handshake: it ends or goes on, whatever it hears. The first
// byte picks role and versions, the second what the endpoint answers about the peer; the rest are
// frames with their lengths.
#include "fuzz/check.hpp"
#include "fuzz/golden_seeds.hpp"
#include "fuzz/target.hpp"

#include "base/bytes.hpp"
#include "wire/broker/handshake.hpp"

#include <algorithm>

namespace pubsub::fuzz {

namespace {

using wire::admission;
using outcome = wire::handshake::outcome;

endpoint_id self() {
  endpoint_id::bytes_type id;
  id.fill(0x18);
  return endpoint_id{id};
}

/// The next frame of `rest`, cut where the bytes end, without its length; takes it away.
std::span<const std::byte> next_frame(std::span<const std::byte>& rest) {
  if (rest.size() < 4) {
    const auto all = rest;
    rest = {};
    return all;
  }
  const auto length = load_be<std::uint32_t>(rest.data());
  const auto size = std::min<std::size_t>(length, rest.size() - 4);
  const auto frame = rest.subspan(4, size);
  rest = rest.subspan(4 + size);
  return frame;
}

struct party {
  party(std::byte first, std::byte second)
      : admits(static_cast<admission>(std::to_integer<unsigned>(second) % 5)),
        rejects((second & std::byte{0x40}) != std::byte{}),
        machine{
            (first & std::byte{1}) == std::byte{} ? wire::tcp_role::connecting
                                                  : wire::tcp_role::accepting,
            {.self = self(),
             .max_version =
                 static_cast<std::uint8_t>((first & std::byte{2}) == std::byte{} ? 2 : 1),
             .local_filter = [](const endpoint_id&) { return filter{"/t"}; },
             .admit =
                 [this](const endpoint_id& remote, bool) {
                   check(!remote.is_nil(), "a peer that is asked about has an id");
                   ++asked;
                   return admits;
                 },
             .is_known =
                 [second](const endpoint_id&) { return (second & std::byte{0x80}) != std::byte{}; },
             .send =
                 [this](std::span<const std::byte> frame) {
                   check(load_be<std::uint32_t>(frame.data()) == frame.size() - 4,
                         "whole frames are sent");
                   ++sent;
                 }}} {}

  admission admits;
  bool rejects;
  int asked = 0;
  int sent = 0;
  wire::handshake machine;
};

} // namespace

void try_input(std::span<const std::byte> bytes) {
  if (bytes.size() < 2)
    return;
  party x{bytes[0], bytes[1]};
  auto& machine = x.machine;
  const auto bound = bounded_by(bytes.size());
  machine.start();
  for (auto rest = bytes.subspan(2); !rest.empty();) {
    const auto before = machine.state();
    const auto now = machine.receive(next_frame(rest));
    if (before == outcome::failed || before == outcome::redundant)
      check(now == before, "what is decided stays decided");
    if (now == outcome::paused && rest.size() % 2 == 1)
      x.rejects ? machine.reject(errc::redundant_connection, "redundant") : machine.proceed_now();
  }
  check(x.sent <= 5, "a handshake says little");
  check(x.asked <= 1, "the endpoint is asked once about a peer");
  check((machine.state() == outcome::failed) == static_cast<bool>(machine.failure()),
        "a failure has a reason");
  if (machine.state() != outcome::peered)
    return;
  check(!machine.remote().is_nil() && machine.remote() != self(), "a peer has an id of its own");
  check(machine.version() == 1 || machine.version() == 2, "a peer speaks a version of ours");
  check(machine.is_originator() == (self() < machine.remote()), "the smaller id originates");
}

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

} // namespace pubsub::fuzz
