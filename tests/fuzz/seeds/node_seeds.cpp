// Inputs that fuzz_node begins with: each step by itself in the state it is for, and long talks.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/node_program.hpp"
#include "fuzz/seeds/seeds.hpp"

#include <utility>

namespace pubsub::fuzz::node_seeds {

namespace {

using step = node_step;
using way = feed_way;

// Places in `node_ids` and `node_topics`.
constexpr std::uint8_t small = 0;
constexpr std::uint8_t other_small = 1;
constexpr std::uint8_t large = 2;
constexpr std::uint8_t other_large = 3;
constexpr std::uint8_t far = 4;
constexpr std::uint8_t other_behind = 7;
constexpr std::uint8_t node = 8;
constexpr std::uint8_t no_node = 9;
constexpr std::uint8_t a = 0;
constexpr std::uint8_t a_b = 1;
constexpr std::uint8_t b = 2;
constexpr std::uint8_t all_topics = 4;

/// Flags of `open`.
constexpr std::uint8_t node_connects = 1;
constexpr std::uint8_t version_2 = 2;
constexpr std::uint8_t is_client = 4;

struct program {
  explicit program(std::uint8_t flags = 0, std::uint8_t link_policy = 0,
                   std::uint8_t queue_policy = 0, std::uint8_t capacity = 200) {
    add(flags, link_policy, queue_policy, capacity);
  }
  template <class... Bytes>
  program& add(Bytes... bytes) {
    (text.push_back(static_cast<char>(bytes)), ...);
    return *this;
  }

  /// What the four places of links, or of subscribers, are is said with every step.
  program& open(std::uint8_t at, std::uint8_t id, std::uint8_t flags) {
    return add(step::open, at, id, flags);
  }
  program& shake_hands(std::uint8_t at, std::uint8_t topic) {
    return add(step::shake_hands, at, 1, topic);
  }
  /// A peer that is a neighbour of the node and of another one, `far`, with a subscription each.
  program& join(std::uint8_t at, std::uint8_t id, std::uint8_t topic, std::uint8_t behind = far) {
    add(step::neighbours, at, way::whole, id, 1, 1, 1, 1, 2, node, behind, 0);
    add(step::filter, at, way::whole, id, 1, 1, 1, 1, topic, 0);
    add(step::neighbours, at, way::whole, behind, 1, 1, 1, 1, 1, id, 0);
    add(step::filter, at, way::whole, behind, 1, 1, 1, 1, topic, 0);
    return add(step::known, at, way::whole);
  }
  program& peer_1(std::uint8_t at, std::uint8_t id, std::uint8_t topic, std::uint8_t flags = 0) {
    return open(at, id, flags).shake_hands(at, topic);
  }
  program& peer_2(std::uint8_t at, std::uint8_t id, std::uint8_t topic, std::uint8_t flags = 0) {
    return open(at, id, flags | version_2).shake_hands(at, topic).join(at, id, topic);
  }
  program& subscribe(std::uint8_t at, std::uint8_t topic) {
    return add(step::subscribe, at, 1, topic);
  }
  program& message(std::uint8_t at, std::uint8_t from, std::uint8_t topic, std::uint8_t value,
                   way how = way::whole) {
    return add(step::message, at, how, from, no_node, 16, topic, value);
  }
  program& topics(std::uint8_t at, std::uint8_t table, std::uint8_t first = 0) {
    return add(step::topics, at, way::whole, table, first, 2, a, b, 2, node, far);
  }
  program& batch(std::uint8_t at, std::uint8_t table, std::uint8_t origin, std::uint8_t sequence,
                 std::uint8_t hops_left = 16, way how = way::whole) {
    return add(step::batch, at, how, table, origin, 7, sequence, hops_left, 3, 0, 1, 1, 2, 0, 3);
  }
  program& publish(std::uint8_t topic, std::uint8_t value) {
    return add(step::publish, topic, value);
  }
  /// What is the same for every link.
  program& each_link(step what) {
    for (std::uint8_t at = 0; at < 4; ++at)
      add(what, at);
    return *this;
  }
  program& advance(std::uint8_t milliseconds) { return add(step::advance, milliseconds); }
  program& a_second() { return advance(0xfa); }
  program& a_minute() { return advance(0xfb).advance(0xfb).advance(0xfb).advance(0xfb); }
  program& drain(std::uint8_t at) { return add(step::drain, at, 100); }

  std::string text;
};

/// The node's side: subscribers, publishing, parting, questions.
void add_own_steps(program& to) {
  to.subscribe(0, a)
      .subscribe(1, all_topics)
      .publish(a, 1)
      .publish(b, 2)
      .publish(a_b, 0xfe)
      .add(90);
  to.add(step::add_topic, 0, b).add(step::remove_topic, 0, a).publish(a, 3).publish(b, 4);
  to.add(step::publish_to, small, a, 5).add(step::publish_to, other_large, a, 6);
  to.add(step::inquire, 0, 0, 16, 100, small).add(step::ask_who_knows).drain(0).drain(1);
  to.each_link(step::respond).add(step::unsubscribe, 1).each_link(step::read);
}

/// Every step of a peer once, on a link that is in some state.
std::vector<program> all_steps_after(const program& before) {
  std::vector<program> result;
  for (std::uint8_t what = 0; what < node_steps; ++what) {
    auto each = before;
    each.add(what, 0, way::whole, small, 1, 2, 1, a, 1, far, 0, 5, 1, 1);
    each.add(step::read, 0).a_second();
    result.push_back(each);
  }
  return result;
}

/// Frames of the handshake by hand, in the orders that end in a peering, and in others.
std::vector<program> handshakes() {
  std::vector<program> result;
  for (const std::uint8_t version : {1, 2, 3})
    for (const std::uint8_t flags : {0, 1}) {
      program larger;
      larger.open(0, large, flags).add(step::hello, 0, way::whole, large, 1, version);
      larger.add(step::syn_ack, 0, way::whole, 1, a).join(0, large, a).publish(a, 1);
      result.push_back(larger.add(step::respond, 0));
      program smaller;
      smaller.open(0, small, flags).add(step::probe, 0, way::whole);
      smaller.add(step::hello, 0, way::pieces, small, 1, version, 9);
      smaller.add(step::select, 0, way::whole, small, version).add(step::syn, 0, way::whole, 1, a);
      smaller.add(step::ack, 0, way::held).join(0, small, a).publish(a, 1);
      result.push_back(smaller.add(step::respond, 0));
    }
  for (const std::uint8_t code : {2, 27, 28, 39, 40, 99})
    result.push_back(program{}.open(0, large, 0).add(step::drop, 0, way::whole, large, code));
  // Two connections to one peer: the second waits, is refused, or goes on when the first is lost.
  for (const std::uint8_t id : {small, large}) {
    program two;
    two.open(0, id, 0).add(step::hello, 0, way::whole, id, 1, 2);
    two.open(1, id, 1).add(step::hello, 1, way::whole, id, 1, 2);
    result.push_back(program{two}.add(step::hang_up, 0).add(step::syn_ack, 1, way::whole, 1, a));
    two.add(step::syn_ack, 0, way::whole, 0).add(step::known, 0, way::whole);
    result.push_back(two.each_link(step::read).peer_2(2, id, b).each_link(step::read));
  }
  result.push_back(program{}.open(0, large, 0).a_minute().add(step::read, 0));
  return result;
}

/// Two peers of version 1 that subscribe, publish and leave.
program talk_of_brokers(std::uint8_t flags, std::uint8_t policy, std::uint8_t capacity) {
  program x{flags, policy, policy, capacity};
  x.subscribe(0, a)
      .peer_1(0, small, a)
      .peer_1(1, large, b, node_connects)
      .peer_1(2, other_small, a);
  for (std::uint8_t i = 0; i < 10; ++i)
    x.message(0, small, i % 3, i).message(1, large, i % 3, i, way::pieces).add(50).publish(a, i);
  x.each_link(step::respond).drain(0).add(step::update, 1, way::whole, large, 2, a, b);
  x.message(0, far, a, 1, way::twice).message(0, small, 6, 1).message(0, node, a, 1);
  x.add(step::message, 0, way::whole, small, large, 9, a, 4).each_link(step::respond);
  x.add(step::message, 0, way::whole, small, node, 1, a, 4).message(2, other_small, a, 0xff);
  x.add(3, 1, 2, 3).add(step::circle_probe, 0, way::whole, node, large, b).publish(b, 7);
  add_own_steps(x);
  for (int i = 0; i < 8; ++i)
    x.add(step::ping, 0, way::whole, small, 1).a_second().each_link(step::respond);
  x.add(step::ping, 1, way::whole, large, 0).each_link(step::read).add(step::part, small);
  x.each_link(step::respond).peer_1(3, other_large, all_topics).publish(a, 8).add(step::hang_up, 2);
  return x.a_minute().each_link(step::read).drain(0);
}

/// Three peers of version 2, of which two lead to the same node, and one of version 1.
program talk_of_nodes(std::uint8_t flags, std::uint8_t policy, std::uint8_t capacity) {
  program x{flags, policy, policy, capacity};
  x.subscribe(0, a)
      .peer_2(0, small, a)
      .peer_2(1, large, b, node_connects)
      .peer_1(2, other_small, a);
  x.peer_2(3, other_large, a).topics(0, 0).topics(0, 1).topics(1, 0).each_link(step::respond);
  for (std::uint8_t i = 0; i < 10; ++i)
    x.batch(0, 0, small, 3 * i).batch(1, 0, far, 2 * i, 14).publish(a, i).publish(b, i);
  x.each_link(step::respond)
      .drain(0)
      .batch(0, 0, small, 0)
      .batch(0, 1, node, 0)
      .batch(0, 0, far, 4);
  x.message(2, other_small, a, 1).add(step::message, 0, way::whole, small, large, 9, a, 4);
  x.batch(0, 0, far, 90, 1).batch(3, 0, far, 95).add(step::credit, 1, way::whole, 0, 0xfb);
  add_own_steps(x);
  x.add(step::question, 0, way::whole, small, 16, 3, node, large, far);
  x.add(step::answer, 0, way::whole, far, node, 16, 1, 1);
  x.add(step::answer, 1, way::whole, far, small, 16, 1, 1);
  x.add(step::inquiry, 0, way::whole, 5, 0, 16, 100, node).add(step::inquire, 1, 2, 16, 9, a, 0);
  x.add(step::inquiry, 1, way::whole, 6, 2, 16, 100, a, 2, node, far);
  x.add(step::reply, 0, way::whole, 1, 0, 9);
  // The way to the node behind changes: what is under way is flushed.
  x.publish(a, 1).add(step::neighbours, 0, way::whole, small, 1, 2, 0, 1, 0, 1, far).publish(a, 2);
  x.add(step::flush, 0, way::whole, small, 1, 0, 2, node, far).batch(0, 0, small, 40).advance(100);
  x.add(step::flushed, 1, way::whole, small, 1, 16, 1, far).each_link(step::respond).publish(a, 3);
  x.add(step::filter, 1, way::whole, far, 1, 2, 0, 1, b, 1, a).publish(b, 3).a_second();
  x.add(step::neighbours, 1, way::whole, far, 2, 1, 1, 1, 1, large, 0).each_link(step::respond);
  x.add(step::ping, 1, way::whole, large, 0).each_link(step::read).batch(3, 0, far, 99);
  x.add(step::part, small).publish(a, 4).a_second().each_link(step::respond).add(step::hang_up, 2);
  return x.peer_2(2, large, a).publish(a, 5).a_minute().each_link(step::read).drain(0);
}

/// Frames of version 2 with fields at their edges.
std::vector<program> edges() {
  program peered;
  peered.subscribe(0, all_topics).peer_2(0, small, a).peer_2(1, large, a).topics(0, 0);
  std::vector<program> result;
  const auto with = [&] { return &result.emplace_back(peered); };
  with()->batch(0, 0, small, 0xff).batch(0, 0, small, 0xfe).batch(0, 0, small, 0).drain(0);
  with()->batch(0, 0, small, 0xfd).batch(0, 0, no_node, 1).batch(0, 0, far, 1, 0).drain(0);
  with()->topics(0, 0, 2).topics(0, 1, 3);
  with()->topics(0, 0xfb);
  with()->batch(0, 5, small, 1);
  with()->add(step::credit, 0, way::whole, 15, 0xfc).add(step::credit, 0, way::whole, 0, 0xfc);
  with()->add(step::neighbours, 0, way::whole, small, 0xff, 0xff, 1, 1, 1, node, 0);
  with()->add(step::neighbours, 0, way::whole, node, 0xff, 0xff, 1, 1, 0, 0).publish(a, 1);
  with()->add(step::filter, 0, way::whole, node, 0xff, 1, 1, 0, 0).publish(a, 1);
  with()->add(step::filter, 0, way::whole, far, 1, 5, 0, 1, b, 0); // one is missing before it
  with()->add(step::flush, 0, way::whole, far, 1, 15, 3, node, far, large).add(step::read, 1);
  // A node with the id of a Broker peer.
  with()
      ->peer_1(2, other_small, a)
      .add(step::filter, 0, way::whole, other_small, 1, 1, 1, 1, a, 0)
      .publish(a, 1);
  with()->add(step::reply, 0, way::whole, 1, 0, 0xfb);
  with()->add(step::raw, 0, 9, 0x80, 0, 0, 5, 1, 0, 0, 0, 0);
  with()->add(step::raw, 0, 4, 0xff, 0xff, 0xff, 0xff);
  with()->add(step::known, 0, way::cut, 3).add(step::hang_up, 0);
  with()->add(step::batch, 0, way::changed, 0, small, 7, 1, 16, 1, 0, 1, 2, 41, 0xff, 3, 9);
  return result;
}

/// A relay with clients and a neighbour; and a client with relays.
std::vector<program> clients() {
  constexpr std::uint8_t client = is_client | version_2;
  program relay;
  relay.subscribe(0, b);
  for (const std::uint8_t at : {0, 1}) {
    const auto id = at == 0 ? small : large;
    relay.open(at, id, client).shake_hands(at, a);
    relay.add(step::filter, at, way::whole, id, 1, 1, 1, 1, a, 0).add(step::known, at, way::whole);
  }
  relay.peer_2(2, other_large, a).add(step::interest, 0, way::whole, 2, b);
  relay.topics(0, 0).batch(0, 0, small, 0).publish(a, 1).publish(b, 2);
  relay.add(step::publish_to, small, a, 1).add(step::publish_to, far, a, 2);
  relay.add(step::wanted, 0, way::whole, 1, b).add(step::ask_who_knows);
  relay.add(step::question, 0, way::whole, small, 16, 1, node).each_link(step::respond);
  std::vector<program> result{relay};
  const auto with = [&] { return &result.emplace_back(relay); };
  with()->topics(2, 0).add(step::entry, 2, way::whole, 0, other_large).batch(2, 0, other_behind, 0);
  with()->topics(2, 0).add(step::entry, 2, way::whole, 0, far).batch(2, 0, small, 0).publish(a, 3);
  with()
      ->add(step::served, 0, way::whole, other_large)
      .each_link(step::respond)
      .add(step::hang_up, 2);
  with()
      ->add(step::relays, 0, way::whole, 2, node, other_large)
      .topics(2, 0)
      .add(step::entry, 2, way::whole, 0, other_large)
      .batch(2, 0, small, 0);
  with()->add(step::served, 0, way::whole, far).add(step::served, 0, way::whole, no_node);
  with()->batch(0, 0, large, 0); // in the name of another
  with()->add(step::entry, 0, way::whole, 0, large);
  with()->add(step::neighbours, 0, way::whole, small, 1, 1, 1, 1, 1, node, 0);
  with()->add(step::filter, 0, way::whole, small, 1, 5, 0, 1, b, 0);
  with()->add(step::question, 0, way::whole, large, 16, 1, node);
  with()->add(step::flush, 0, way::whole, large, 1, 0, 1, node);
  with()->add(step::filter, 2, way::whole, small, 1, 1, 1, 1, b, 0).publish(b, 4).drain(0);
  program served{forwards_nothing};
  served.subscribe(0, a);
  for (const std::uint8_t at : {0, 1})
    served.open(at, at == 0 ? small : large, version_2)
        .shake_hands(at, a)
        .add(step::known, at, way::whole);
  served.publish(a, 1).each_link(step::respond).publish(a, 2).topics(0, 0).batch(0, 0, small, 0);
  result.push_back(served);
  served.add(step::wanted, 0, way::whole, 0, a).publish(a, 3);
  served.add(step::wanted, 0, way::whole, 1, a).publish(a, 4).add(step::publish_to, far, a, 1);
  served.add(step::served, 1, way::whole, no_node).publish(a, 5).each_link(step::respond);
  served.add(step::served, 1, way::whole, small).add(step::hang_up, 0).publish(a, 6);
  served.add(step::ask_who_knows).each_link(step::respond).drain(0);
  result.push_back(served);
  program two{forwards_nothing};
  two.subscribe(0, a).open(0, small, client).shake_hands(0, a);
  two.add(step::filter, 0, way::whole, small, 1, 1, 1, 1, a, 0).add(step::known, 0, way::whole);
  result.push_back(two.topics(0, 0).batch(0, 0, small, 0).publish(a, 1).each_link(step::respond));
  return result;
}

std::vector<std::string> seeds() {
  program peered_1;
  program peered_2;
  std::vector<std::string> out{{}};
  const auto keep = [&](const std::vector<program>& all) {
    for (const auto& each : all)
      out.push_back(each.text);
  };
  peered_1.subscribe(0, a).peer_1(0, small, a).peer_1(1, large, a);
  peered_2.subscribe(0, a).peer_2(0, small, a).peer_2(1, large, a).topics(0, 0);
  keep(all_steps_after(program{}.open(0, small, 0)));
  keep(all_steps_after(peered_1));
  keep(all_steps_after(peered_2));
  keep(handshakes());
  keep(edges());
  keep(clients());
  for (const std::uint8_t flags : {0, 1, 2, 4, 8})
    for (std::uint8_t policy = 0; policy < 5; ++policy)
      for (const std::uint8_t capacity : {2, 200})
        keep({talk_of_brokers(flags, policy, capacity), talk_of_nodes(flags, policy, capacity)});
  return out;
}

/// Steps that lead on, wherever they are put.
std::vector<std::string> words() {
  std::vector<std::string> out;
  const auto keep = [&](const program& x) { out.push_back(x.text.substr(program{}.text.size())); };
  for (std::uint8_t at = 0; at < 2; ++at) {
    keep(program{}.peer_1(at, small + 2 * at, a));
    keep(program{}.peer_2(at, small + 2 * at, a));
    keep(program{}.topics(at, 0));
    keep(program{}.batch(at, 0, far, 1));
    keep(program{}.message(at, small + 2 * at, a, 1));
  }
  keep(program{}.each_link(step::respond));
  keep(program{}.a_second());
  keep(program{}.subscribe(0, all_topics));
  keep(program{}.publish(a, 1));
  return out;
}

const target_seeds announced{"node", seeds, words};

} // namespace

} // namespace pubsub::fuzz::node_seeds
