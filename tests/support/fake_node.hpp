// A whole node without sockets and threads: its peers are fake links that the test feeds.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "data/binary.hpp"
#include "node/flow/outbound.hpp"
#include "node/peering/peering.hpp"
#include "support/fake_link.hpp"
#include "support/handshake_party.hpp"
#include "support/ids.hpp"
#include "wire/native/network.hpp"

namespace pubsub::test {

/// Router, peering and one publisher, on a loop and a clock of the test.
struct fake_node {
  explicit fake_node(const endpoint_id& id = id_of(100), endpoint_options chosen = {})
      : self(id), options(as_if_listening(std::move(chosen))),
        routes(self, options.forward_topics, starts_as_relay(options)),
        peers(std::make_shared<peering>(self, options, routes, events, counts)),
        out(self, routes, true, options.max_frame_bytes, counts.make()) {}
  ~fake_node() {
    for (const auto& each : links)
      each->end({});
    loop->run();
    peers->close(std::chrono::milliseconds{0});
    routes.close();
  }
  fake_node(const fake_node&) = delete;
  fake_node& operator=(const fake_node&) = delete;

  /// A connection is there; the node has sent what it says first.
  std::shared_ptr<fake_link> connect(wire::tcp_role role = wire::tcp_role::accepting) {
    auto fresh =
        std::make_shared<fake_link>(loop, options.link_queue, options.max_handshake_frame_bytes);
    links.push_back(fresh);
    peers->adopt(fresh, role);
    loop->run();
    return fresh;
  }
  std::shared_ptr<message_queue> subscribe(const filter& topics, const queue_options& bounds = {}) {
    auto queue = std::make_shared<message_queue>(bounds);
    last_subscriber = routes.add_subscriber(queue, topics);
    return queue;
  }
  publish_result publish(std::string_view topic, std::int64_t value) {
    const auto result = out.publish(topic, data{value}, loop->now());
    out.seal();
    return result;
  }

  static endpoint_options as_if_listening(endpoint_options x) {
    if (x.forwarding == forwarding::automatic)
      x.forwarding = forwarding::on;
    return x;
  }

  const endpoint_id self;
  const endpoint_options options;
  std::shared_ptr<fake_loop> loop = std::make_shared<fake_loop>();
  counter_registry counts;
  status_hub events;
  router routes;
  std::shared_ptr<peering> peers;
  outbound out;
  std::vector<std::shared_ptr<fake_link>> links;
  subscriber_id last_subscriber = 0;
};

/// What a queue holds, as `topic=value` for integers.
inline std::vector<std::string> texts_in(message_queue& queue) {
  std::vector<data_message> all;
  while (queue.pull(all, 1000, std::chrono::steady_clock::now()) > 0) {
  }
  std::vector<std::string> result;
  for (const auto& each : all)
    result.push_back(std::string{get_topic(each)} + "=" +
                     std::to_string(get<std::int64_t>(get_data(each))));
  return result;
}

inline std::vector<std::byte> bytes_of(std::int64_t value) {
  const data x{value};
  std::vector<std::byte> result(encoded_size(x));
  encode(x, result.data());
  return result;
}

/// The other end of one fake link: a peer of version 1 or 2 that does what the test says.
struct fake_peer {
  /// Announces `subscriptions`, and has shaken hands. A relay of version 2 says at once that it has
  /// no other links, unless the test is to say which.
  fake_peer(fake_node& at, const endpoint_id& id, std::uint8_t version, const filter& subscriptions,
            bool says_links = true, bool client = false)
      : node(at), self(id), subscribed(subscriptions), carrier(at.connect()),
        hands(wire::tcp_role::connecting, id, subscriptions, version, client) {
    for (int round = 0; round < 4; ++round) {
      for (const auto& each : hands.take_sent())
        carrier->receive(each);
      node.loop->run();
      if (hands.machine.state() == outcome::peered)
        break;
      for (const auto& each : carrier->take_frames())
        if (hands.machine.state() == outcome::running)
          hands.hear(each);
    }
    for (const auto& each : hands.take_sent())
      carrier->receive(each);
    if (hands.machine.version() >= 2 && says_links && !client)
      join_network({node.self});
  }

  /// Version 2: says which links and subscriptions it has, and that this is all.
  void join_network(const std::vector<endpoint_id>& neighbours) {
    send(wire::make_report(neighbours_report{{self, 1, 1, true}, true, neighbours, {}}));
    send(wire::make_report(
        filter_report{{self, 1, 1, true}, {subscribed.begin(), subscribed.end()}, {}}));
    send(wire::make_known());
  }
  /// Version 2: a node is behind it, which has links to these. A later report about that node has a
  /// higher number.
  void announce(const endpoint_id& far, const filter& subscriptions,
                const std::vector<endpoint_id>& far_links, std::uint64_t number = 1) {
    send(wire::make_report(neighbours_report{{self, 1, 2, true}, true, {node.self, far}, {}}));
    send(wire::make_report(neighbours_report{{far, 1, number, true}, true, far_links, {}}));
    send(wire::make_report(
        filter_report{{far, 1, 1, true}, {subscriptions.begin(), subscriptions.end()}, {}}));
  }
  void send(std::span<const std::byte> frame) {
    carrier->receive(frame);
    node.loop->run();
  }
  /// A message as a frame of version 1.
  void send_frame(std::string_view topic, std::int64_t value, std::uint16_t hops_left = 16,
                  const endpoint_id& receiver = {}) {
    const auto payload = bytes_of(value);
    std::vector<std::byte> frame(wire::data_frame_bytes(topic.size(), payload.size()));
    std::ranges::copy(payload, wire::write_data_header(frame.data(), self, topic, payload.size(),
                                                       hops_left, receiver));
    send(frame);
  }
  /// Version 2: topics that its batches name, each for these nodes.
  void announce_topics(const std::vector<std::string>& topics, const std::vector<endpoint_id>& to,
                       std::uint16_t table = 0) {
    auto all = topic_table::make(topic_table::max_topics);
    auto nodes = std::make_shared<destinations_by_link>();
    nodes->push_back({this, {}});
    for (const auto& each : to)
      nodes->front().nodes.push_back({each, prefix_index<remote_target>::whenever});
    for (const auto& each : topics)
      all->add(each, nodes);
    send(wire::make_topics(table, *all, 0, topics.size(), this));
  }
  /// Version 2: a batch of one message on the first topic announced, of a stream of `origin`.
  void send_record(std::int64_t value, std::uint64_t sequence, const endpoint_id& origin,
                   std::uint8_t hops_left = 16, std::uint16_t table = 0) {
    send(make_batch(value, sequence, origin, hops_left, table));
  }
  static std::vector<std::byte> make_batch(std::int64_t value, std::uint64_t sequence,
                                           const endpoint_id& origin, std::uint8_t hops_left = 16,
                                           std::uint16_t table = 0) {
    const auto payload = bytes_of(value);
    const auto size = record_header_bytes + payload.size();
    std::vector<std::byte> frame(wire::batch_header_bytes + size);
    wire::write_batch_header(frame.data(), {table, 1, {origin, 7, sequence, hops_left}}, size);
    std::ranges::copy(payload, write_record_header(frame.data() + wire::batch_header_bytes,
                                                   static_cast<std::uint32_t>(payload.size()), 0));
    return frame;
  }
  std::vector<buffer> take_frames() {
    node.loop->run();
    return carrier->take_frames();
  }
  /// The payloads of frames of version 2 of this kind that were sent to it.
  std::vector<buffer> take_of_kind(wire::frame_kind kind) {
    std::vector<buffer> result;
    for (const auto& each : take_frames())
      if ((load_be<std::uint32_t>(each.data()) & wire::batch_flag) != 0 &&
          wire::kind_of(std::span{each}.subspan(4)) == kind)
        result.emplace_back(each.begin() + 4, each.end());
    return result;
  }
  /// The messages sent to it: how many there were in frames of either version.
  std::size_t take_messages() {
    std::size_t sum = 0;
    for (const auto& each : take_frames()) {
      const auto payload = std::span{each}.subspan(4);
      const bool flagged = (load_be<std::uint32_t>(each.data()) & wire::batch_flag) != 0;
      if (const auto batch = flagged ? wire::parse_batch(payload) : std::nullopt)
        sum += batch->header.messages;
      if (const auto x = flagged ? std::nullopt : wire::parse_envelope(payload))
        sum += x->type == wire::envelope_type::data ? 1 : 0;
    }
    return sum;
  }
  bool is_peered() const { return node.peers->session_of(self) != nullptr; }

  fake_node& node;
  const endpoint_id self;
  const filter subscribed;
  std::shared_ptr<fake_link> carrier;
  party hands;
};

} // namespace pubsub::test
