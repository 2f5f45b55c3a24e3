// The programs that fuzz_node runs, as both the target and its seeds spell them: a byte for each
// choice, counts as below, and bytes that are missing count as zero.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/bytes.hpp"
#include "support/ids.hpp"

namespace pubsub::fuzz {

/// What comes first: how the node is set up. One byte each.
enum class node_choice : std::uint8_t {
  flags,        ///< bits, as below
  link_policy,  ///< of the outboxes
  queue_policy, ///< of the subscribers
  capacity,     ///< of both, in messages: small ones are full soon
};
inline constexpr std::uint8_t forwards_nothing = 1;
inline constexpr std::uint8_t offers_version_1 = 2;
inline constexpr std::uint8_t takes_short_frames = 4;
inline constexpr std::uint8_t leaves_in_order = 8;

/// Then steps, each a byte and what is named behind it. `link` is a place of four, `id` a place in
/// `node_ids`, `topic` one in `node_topics`, `how` a `feed_way`; lists have a byte for their size.
enum class node_step : std::uint8_t {
  // -- a connection
  open,        ///< link, id of the peer, flags: bit 0 the node has connected, bit 1 version 2,
               ///< bit 2 it is a client
  shake_hands, ///< link, topics: as far as the handshake gets, with this filter
  hang_up,     ///< link
  read,        ///< link: the peer reads what is there
  respond,     ///< link: the same, and it answers what can be answered
  // -- frames of the handshake
  hello,   ///< link, how, id, lowest, highest version
  probe,   ///< link, how
  select,  ///< link, how, id, version
  syn,     ///< link, how, topics
  syn_ack, ///< link, how, topics
  ack,     ///< link, how
  drop,    ///< link, how, id, code
  // -- frames of version 1
  message,      ///< link, how, sender, receiver, hops left, topic, value
  update,       ///< link, how, sender, topics
  circle_probe, ///< link, how, node, over, topic
  ping,         ///< link, how, sender, a byte for the payload: 0 is a goodbye
  pong,         ///< link, how, sender, the same
  // -- frames of version 2
  topics,     ///< link, how, table, first number, topics, ids
  batch,      ///< link, how, table, origin, stream, sequence, hops left, records: topic, value
  credit,     ///< link, how, hops, bytes
  neighbours, ///< link, how, header, flags: bit 0 relays, ids added, ids removed
  filter,     ///< link, how, header, topics added, topics removed
  known,      ///< link, how
  question,   ///< link, how, id, hops left, ids
  answer,     ///< link, how, id, id, hops left, incarnation, number
  flush,      ///< link, how, id, number, hops, ids
  flushed,    ///< link, how, id, number, hops left, ids
  inquiry,    ///< link, how, number, subject, hops left, milliseconds, id or topic and ids
  reply,      ///< link, how, number, outcome, size of the body
  interest,   ///< link, how, how many are enough, topic
  wanted,     ///< link, how, how many want it, topic
  served,     ///< link, how, id
  relays,     ///< link, how, ids
  entry,      ///< link, how, table, id
  raw,        ///< link, size, bytes
  // -- the node's own side
  advance,       ///< milliseconds
  run,           ///< nothing
  subscribe,     ///< place of four, topics
  unsubscribe,   ///< place of four
  add_topic,     ///< place of four, topic
  remove_topic,  ///< place of four, topic
  drain,         ///< place of four, how many
  publish,       ///< topic, value
  publish_to,    ///< id, topic, value
  part,          ///< id
  inquire,       ///< number, subject, hops left, milliseconds, id or topic and ids
  ask_who_knows, ///< nothing
};
inline constexpr std::uint8_t node_steps = 1 + static_cast<std::uint8_t>(node_step::ask_who_knows);

/// How the bytes of a frame come in. What it needs besides stands behind the fields of the frame.
enum class feed_way : std::uint8_t {
  whole,
  pieces, ///< cut at a count, with the loop running in between
  cut,    ///< what is behind that count is lost
  twice,
  changed, ///< a list of places and bytes that are put there
  held,    ///< whole, but the loop does not run
};
inline constexpr std::uint8_t feed_ways = 6;

inline const endpoint_id node_id = test::id_of(100);
inline const endpoint_id node_ids[] = {
    test::id_of(1),   test::id_of(2),   test::id_of(120), test::id_of(121), // often peers
    test::id_of(3),   test::id_of(130), test::id_of(131), test::id_of(200), // often behind them
    test::id_of(100), endpoint_id{},
};
inline constexpr std::string_view node_topics[] = {"/a",
                                                   "/a/b",
                                                   "/b",
                                                   "/c/d/e",
                                                   "",
                                                   "/a/b/c",
                                                   "<$>",
                                                   "/x<$>y",
                                                   "zeek/event",
                                                   // with conditions
                                                   {"/a\0where\0$ == 1\0n", 17},
                                                   {"\0where\0@size > 9\0y", 18},
                                                   {"/b\0where\0(", 10}};

/// What is left of a program.
class program_reader {
public:
  explicit program_reader(std::span<const std::byte> all) : rest_(all) {}

  bool empty() const noexcept { return rest_.empty(); }
  std::uint8_t byte() noexcept {
    if (rest_.empty())
      return 0;
    const auto result = std::to_integer<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return result;
  }
  std::span<const std::byte> bytes(std::size_t n) noexcept {
    const auto result = rest_.first(std::min(n, rest_.size()));
    rest_ = rest_.subspan(result.size());
    return result;
  }
  /// A byte; the highest ones stand for numbers at an edge, or for the eight bytes behind.
  std::uint64_t count() noexcept {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    switch (const auto first = byte()) {
    case 0xff:
      return most;
    case 0xfe:
      return most - 1;
    case 0xfd:
      return most / 2 + 1;
    case 0xfc:
      return std::numeric_limits<std::uint32_t>::max();
    case 0xfb:
      return std::numeric_limits<std::uint16_t>::max();
    case 0xfa:
      return 1'000;
    case 0xf9: {
      std::uint64_t result = 0;
      for (int i = 0; i < 8; ++i)
        result = result << 8 | byte();
      return result;
    }
    default:
      return first;
    }
  }
  template <class T>
  T count_of() noexcept {
    return static_cast<T>(count());
  }

private:
  std::span<const std::byte> rest_;
};

} // namespace pubsub::fuzz
