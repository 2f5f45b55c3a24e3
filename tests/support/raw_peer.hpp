// A peer that is a plain socket: it has shaken hands and from then on does what the test says.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/nodes.hpp"
#include "support/raw_socket.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/batch.hpp"

namespace pubsub::test {

/// Has an id of 32 equal digits, ff.. if not told otherwise, wants everything, and speaks version 1
/// or 2. A client has to speak version 2.
struct raw_peer {
  enum class role { relay, client };

  raw_peer(endpoint& ep, std::uint16_t port, int version, int receive_buffer_bytes = 0,
           char digit = 'f', role as = role::relay)
      : wire(raw_socket::connect(port, receive_buffer_bytes)) {
    const std::string name(32, digit);
    const auto report = // its id, and two numbers that rise with every report
        name + "0000000000000001 0000000000000001";
    const std::string versions = "010" + std::to_string(version);
    CHECK(wire.send(as == role::client ? "00000019 06 5a45454b" + name + versions + "01 00"
                                       : "00000017 06 5a45454b" + name + versions));
    for (int i = 0; i < 3; ++i)
      CHECK_FALSE(wire.read_frame().empty()); // probe, version_select, syn
    CHECK(wire.send(wire::make_frame(from_hex("0b0100"))));
    CHECK(wire.read_frame() == from_hex("00000001 0c"));
    if (version == 2) // what it knows of the network: nobody else, and that it wants everything
      CHECK(wire.send((as == role::client ? "" : "80000024 03 03" + report + "00 00") +
                      "80000025 04 01" + report + "01 00 00 80000001 05"));
    CHECK(ep.wait_for_peer(id(digit), patience));
  }

  static endpoint_id id(char digit = 'f') {
    endpoint_id::bytes_type bytes;
    bytes.fill(std::to_integer<std::uint8_t>(from_hex(std::string(2, digit))[0]));
    return endpoint_id{bytes};
  }
  struct frame {
    bool of_version_2 = false;
    buffer payload; ///< empty at the end of the stream
  };
  frame read_frame() {
    const auto head = wire.read(4);
    if (head.size() < 4)
      return {};
    const auto word = load_be<std::uint32_t>(head.data());
    return {(word & wire::batch_flag) != 0, wire.read(word & ~wire::batch_flag)};
  }
  /// The payload of the next frame of version 2 of this kind; empty if the stream ends before one.
  buffer next_of_kind(std::uint8_t kind) {
    auto next = read_frame();
    while (!next.payload.empty() && !(next.of_version_2 && next.payload[0] == std::byte{kind}))
      next = read_frame();
    return next.payload;
  }
  /// The payload of the next ping; nothing if the stream ends before one.
  std::optional<buffer> next_ping() {
    for (auto next = read_frame(); !next.payload.empty(); next = read_frame())
      if (const auto x = wire::parse_envelope(next.payload);
          !next.of_version_2 && x && x->type == wire::envelope_type::ping)
        return buffer{x->payload.begin(), x->payload.end()};
    return {};
  }
  bool send_ping(const endpoint& to) { return wire.send(wire::make_ping(id(), to.id(), {})); }
  bool send_pong(const endpoint& to, const buffer& payload) {
    return wire.send(wire::make_pong(id(), to.id(), payload));
  }

  raw_socket wire;
};

/// A node that is not there: only raw peers speak of it.
inline endpoint_id far_id() {
  return raw_peer::id('e');
}

/// What a raw peer says about a node behind it that wants everything.
inline const std::string news_of_far_node =
    "80000034 03 02" // ff.. passes messages on, and has a link to ee..
    "ffffffffffffffffffffffffffffffff 0000000000000001 0000000000000002 01"
    "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee 00"
    "80000034 03 01"
    "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee 0000000000000001 0000000000000001 01"
    "ffffffffffffffffffffffffffffffff 00"
    "80000025 04 01"
    "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee 0000000000000001 0000000000000001 01 00 00";

} // namespace pubsub::test
