// Any frames as what a peer says in the handshake: it ends or goes on, whatever it hears. The first
// byte picks role and versions, the second what the endpoint answers about the peer; the rest are
// frames with their lengths.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
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

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
