// Programs of small steps for a whole node whose peers are fake links: whatever peers of either
// version say, in whatever order, the counters of the node add up, it delivers what was subscribed
// to, writes what can be read, and leaves nothing behind. `node_program.hpp` says how programs are
// spelt.
//
// Every step has a memory bound in proportion to what all peers have said so far, and there are
// bounds on steps and on what is said, so that no input takes long.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/node_frames.hpp"
#include "fuzz/node_program.hpp"
#include "fuzz/target.hpp"

#include <pubsub/log.hpp>

#include "base/byte_writer.hpp"
#include "filter/subscription_text.hpp"
#include "support/fake_node.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/network.hpp"

#include <array>
#include <map>
#include <optional>
#include <tuple>

namespace pubsub::fuzz {

namespace {

using namespace std::chrono_literals;
using test::fake_link;
using test::fake_node;

constexpr std::size_t most_steps = 400;
constexpr std::size_t most_bytes_said = 1024 * 1024;
constexpr std::uint64_t longest_time_ms = 60'000;

// -- the play ------------------------------------------------------------------------------------

/// The other end of one link.
struct peer_place {
  std::shared_ptr<fake_link> carrier; // null before the first
  endpoint_id self;
  wire::tcp_role role{};
  std::uint8_t version = 1;
  bool client = false;
  written_frames written;
};

struct subscriber_place {
  std::shared_ptr<message_queue> queue; // null before the first
  subscriber_id id = 0;
  filter topics; // all it ever had: what matched them may still wait
};

endpoint_options options_of(std::uint8_t flags, const queue_options& link_queue) {
  endpoint_options result;
  result.link_queue = link_queue;
  if ((flags & forwards_nothing) != 0)
    result.forwarding = forwarding::off;
  if ((flags & offers_version_1) != 0)
    result.max_wire_version = 1;
  if ((flags & takes_short_frames) != 0)
    result.max_frame_bytes = 2'048;
  result.max_handshake_frame_bytes = 64 * 1024;
  return result;
}

class play {
public:
  explicit play(std::span<const std::byte> program) : in_(program) {
    flags_ = in_.byte();
    const auto link_policy = one_of(all_overflow_policies, in_.byte());
    const auto queue_policy = one_of(all_overflow_policies, in_.byte());
    const auto capacity = 1 + std::size_t{in_.byte()};
    queue_bounds_ = {queue_policy, capacity, 64 * capacity};
    node_.emplace(node_id, options_of(flags_, {link_policy, capacity, 64 * capacity}));
    loop_ = node_->loop;
    node_->peers->tell_by([](auto, auto) { return std::string{"{}"}; });
  }

  void run() {
    for (std::size_t n = 0; n < most_steps && !in_.empty() && said_ < most_bytes_said; ++n) {
      const memory_bound bound{8 * 1024 * 1024 + 4'096 * (said_ + longest_text)};
      act(static_cast<node_step>(in_.byte() % node_steps));
      check_books();
    }
    finish();
  }

private:
  // -- steps -------------------------------------------------------------------------------------

  void act(node_step what) {
    if (what < node_step::advance)
      return act_as_peer(what, peers_[in_.byte() % peers_.size()]);
    switch (what) {
    case node_step::advance:
      return loop_->advance(std::chrono::milliseconds{in_.count() % longest_time_ms});
    case node_step::run:
      return loop_->run();
    case node_step::publish:
    case node_step::publish_to:
      return publish(what);
    case node_step::part: // waits for nothing, and lets the next timer end the link
      std::ignore = node_->peers->disconnect(read_id(in_), -1s);
      return;
    case node_step::inquire: {
      auto asked = read_inquiry(in_);
      asked.hops_left = wire::max_hops;
      return node_->peers->take_inquiry(asked, nullptr, [](const auto&) {});
    }
    case node_step::ask_who_knows:
      std::ignore = node_->routes.wait_until_known(fake_link::clock::now() + 100us);
      return;
    default:
      return act_as_subscriber(what, subscribers_[in_.byte() % subscribers_.size()]);
    }
  }

  void act_as_subscriber(node_step what, subscriber_place& at) {
    if (what == node_step::subscribe)
      return subscribe(at);
    if (!at.queue)
      return;
    switch (what) {
    case node_step::unsubscribe:
      node_->routes.remove_subscriber(at.id);
      return at.queue->discard();
    case node_step::add_topic: {
      const auto topic = read_topic(in_);
      at.topics.add(topic);
      return node_->routes.add_topic(at.id, topic);
    }
    case node_step::remove_topic:
      return node_->routes.remove_topic(at.id, read_topic(in_));
    default:
      return drain(at, in_.byte());
    }
  }

  void act_as_peer(node_step what, peer_place& at) {
    if (what == node_step::open)
      return open(at);
    if (!at.carrier)
      return;
    switch (what) {
    case node_step::shake_hands:
      return shake_hands(at, filter{read_topics(in_)});
    case node_step::hang_up:
      at.carrier->end({});
      return loop_->run();
    case node_step::read:
      std::ignore = read(at);
      return;
    case node_step::respond:
      return respond(at);
    case node_step::raw: {
      const auto bytes = in_.bytes(in_.byte());
      return say(at, bytes);
    }
    default:
      return feed(at, what);
    }
  }

  void open(peer_place& at) {
    if (at.carrier)
      at.carrier->end({});
    at.self = read_id(in_);
    const auto flags = in_.byte();
    at.role = (flags & 1) != 0 ? wire::tcp_role::connecting : wire::tcp_role::accepting;
    at.version = (flags & 2) != 0 ? 2 : 1;
    at.client = (flags & 4) != 0;
    at.carrier = node_->connect(at.role);
    at.written = {};
  }

  /// As a peer does that keeps to the rules, from the beginning.
  void shake_hands(peer_place& at, const filter& topics) {
    const auto role = at.role == wire::tcp_role::connecting ? wire::tcp_role::accepting
                                                            : wire::tcp_role::connecting;
    test::party hands{role, at.self, topics, at.version, at.client};
    for (int round = 0; round < 4; ++round) {
      for (const auto& each : hands.take_sent())
        say(at, each);
      for (const auto& each : read(at))
        if (hands.machine.state() == test::outcome::running)
          hands.hear(each);
    }
    for (const auto& each : hands.take_sent())
      say(at, each);
  }

  void subscribe(subscriber_place& at) {
    if (at.queue) {
      node_->routes.remove_subscriber(at.id);
      at.queue->discard();
    }
    at.topics = filter{read_topics(in_)};
    at.queue = node_->subscribe(at.topics, queue_bounds_);
    at.id = node_->last_subscriber;
    node_->counts.follow(at.queue);
  }

  void publish(node_step what) {
    const auto receiver = what == node_step::publish_to ? read_id(in_) : endpoint_id{};
    const auto topic = read_topic(in_);
    const auto value = decode_binary(read_value(in_));
    if (!value)
      return;
    if (what == node_step::publish)
      std::ignore = node_->out.publish(topic, data{*value}, immediately());
    else if (!receiver.is_nil() && receiver != node_id)
      std::ignore = node_->out.publish_to(receiver, topic, data{*value}, immediately());
    node_->out.seal();
  }

  void drain(subscriber_place& at, std::size_t most) {
    std::vector<data_message> all;
    at.queue->pull(all, most, immediately());
    for (const auto& each : all) {
      check(at.topics.matches(get_topic(each)), "what is delivered was subscribed to");
      check_bytes_give_back(get_data(each));
    }
  }

  // -- what peers say ----------------------------------------------------------------------------

  void feed(peer_place& at, node_step what) {
    const auto way = static_cast<feed_way>(in_.byte() % feed_ways);
    auto frame = make_frame(what);
    const std::span<const std::byte> all{frame};
    switch (way) {
    case feed_way::whole:
      return say(at, all);
    case feed_way::twice:
      say(at, all);
      return say(at, all);
    case feed_way::held:
      return say(at, all, false);
    case feed_way::cut:
      return say(at, all.first(in_.count() % (all.size() + 1)));
    case feed_way::pieces: {
      const auto first = in_.count() % (all.size() + 1);
      say(at, all.first(first));
      return say(at, all.subspan(first));
    }
    case feed_way::changed:
      for (int n = in_.byte() % 8; n > 0; --n) {
        auto& place = frame[in_.count() % frame.size()];
        place = static_cast<std::byte>(in_.byte());
      }
      return say(at, all);
    }
  }

  void say(peer_place& at, std::span<const std::byte> bytes, bool run = true) {
    said_ += bytes.size();
    if (!at.carrier->closed())
      at.carrier->receive(bytes);
    if (run)
      loop_->run();
  }

  buffer make_frame(node_step what) {
    switch (what) {
    case node_step::hello: {
      const auto id = read_id(in_);
      const auto lowest = in_.byte();
      return handshake_frame(6, magic, id, lowest, in_.byte());
    }
    case node_step::probe:
      return handshake_frame(7, magic);
    case node_step::select: {
      const auto id = read_id(in_);
      return handshake_frame(8, magic, id, in_.byte());
    }
    case node_step::syn:
      return handshake_frame(10, read_topics(in_));
    case node_step::syn_ack:
      return handshake_frame(11, read_topics(in_));
    case node_step::ack:
      return handshake_frame(12);
    case node_step::drop: {
      const auto id = read_id(in_);
      return handshake_frame(9, magic, id, in_.byte(), std::string_view{"no"});
    }
    case node_step::message:
    case node_step::update:
    case node_step::circle_probe:
    case node_step::ping:
    case node_step::pong:
      return make_broker_frame(what);
    default:
      return make_native_frame(what);
    }
  }

  buffer make_broker_frame(node_step what) {
    if (what == node_step::message)
      return make_message(in_);
    const auto sender = read_id(in_);
    switch (what) {
    case node_step::update:
      return wire::make_routing_update(sender, node_id, filter{read_topics(in_)});
    case node_step::circle_probe: {
      const auto over = read_id(in_);
      return wire::make_circle_probe({sender, over}, read_topic(in_));
    }
    case node_step::ping:
      return wire::make_ping(sender, node_id, ping_payload(in_.byte()));
    default:
      return wire::make_pong(sender, node_id, ping_payload(in_.byte()));
    }
  }

  buffer make_native_frame(node_step what) {
    switch (what) {
    case node_step::topics:
      return make_topics(in_);
    case node_step::batch:
      return make_batch(in_);
    case node_step::credit: {
      const auto hops = in_.byte();
      return wire::make_credit({hops, in_.count_of<std::uint32_t>()});
    }
    case node_step::neighbours: {
      neighbours_report report{read_header(in_), (in_.byte() & 1) != 0, {}, {}};
      report.added = read_ids(in_);
      report.removed = read_ids(in_);
      return wire::make_report(report);
    }
    case node_step::filter: {
      filter_report report{read_header(in_), {}, {}};
      report.added = read_topics(in_);
      report.removed = read_topics(in_);
      return wire::make_report(report);
    }
    case node_step::known:
      return wire::make_known();
    case node_step::interest:
    case node_step::wanted: {
      const auto number = in_.count_of<std::uint32_t>();
      const auto text = read_topic(in_);
      topic_interest x{std::string{prefix_of(text)}, number};
      if (prefix_of(text) != text)
        x.conditions.emplace_back(condition_of(text));
      return what == node_step::interest ? wire::make_interest(x) : wire::make_wanted(x);
    }
    case node_step::served:
      return wire::make_served(read_id(in_));
    case node_step::relays:
      return wire::make_relays(read_ids(in_));
    case node_step::entry: {
      const auto table = in_.count_of<std::uint16_t>();
      return wire::make_entry({table, read_id(in_)});
    }
    case node_step::inquiry:
      return wire::make_inquiry(read_inquiry(in_));
    case node_step::reply: {
      wire::reply x{.number = in_.count_of<std::uint32_t>()};
      x.outcome = static_cast<wire::reply_outcome>(in_.byte() % 8);
      x.body.assign(in_.count() % longest_text, 'x');
      return wire::make_reply(x);
    }
    default:
      return make_letter(what);
    }
  }

  buffer make_letter(node_step what) {
    const auto id = read_id(in_);
    switch (what) {
    case node_step::question: {
      const auto hops_left = in_.byte();
      return wire::make_question({id, hops_left, read_ids(in_)});
    }
    case node_step::answer: {
      filter_answer answer{id, read_id(in_), 0, 0, 0};
      answer.hops_left = in_.byte();
      answer.incarnation = in_.count();
      answer.number = in_.count();
      return wire::make_answer(answer);
    }
    case node_step::flush: {
      const auto number = in_.count_of<std::uint32_t>();
      const auto hops = in_.byte();
      return wire::make_flush({id, number, hops, read_ids(in_)});
    }
    default: {
      const auto number = in_.count_of<std::uint32_t>();
      const auto hops_left = in_.byte();
      return wire::make_flushed({id, number, hops_left, read_ids(in_)});
    }
    }
  }

  // -- what peers hear ---------------------------------------------------------------------------

  std::vector<buffer> read(peer_place& at) {
    const bool was_closed = at.carrier->closed();
    const auto bytes = at.carrier->take_written();
    check(!was_closed || bytes.empty(), "nothing is written to a link that is closed");
    auto frames = test::frames_of(bytes);
    std::size_t sum = 0;
    for (const auto& each : frames) {
      at.written.check_one(each, at.carrier->version());
      sum += each.size();
    }
    check(sum == bytes.size(), "whole frames are written");
    loop_->run();
    return frames;
  }

  /// Pings, questions and flushes get what a good peer says to them, and batches get credit.
  void respond(peer_place& at) {
    for (const auto& each : read(at)) {
      const auto payload = std::span<const std::byte>{each}.subspan(wire::frame_header_bytes);
      if ((load_be<std::uint32_t>(each.data()) & wire::batch_flag) != 0) {
        respond_to_native(at, payload);
      } else if (const auto envelope = wire::parse_envelope(payload);
                 envelope && envelope->type == wire::envelope_type::ping) {
        say(at, wire::make_pong(at.self, node_id, envelope->payload));
      }
    }
  }

  void respond_to_native(peer_place& at, std::span<const std::byte> payload) {
    const auto kind = *wire::kind_of(payload);
    if (kind == wire::frame_kind::inquiry) {
      say(at, wire::make_reply({.number = wire::parse_inquiry(payload)->number, .body = {}}));
    } else if (kind == wire::frame_kind::question) {
      const auto question = *wire::parse_question(payload);
      for (const auto& each : question.to)
        say(at, wire::make_answer({each, question.from, wire::max_hops, 1, 1'000}));
    } else if (kind == wire::frame_kind::interest) {
      const auto asked = *wire::parse_interest(payload);
      say(at, wire::make_wanted({asked.topic, asked.number / 2}));
    } else if (kind == wire::frame_kind::served) {
      say(at, wire::make_served(at.client ? node_id : endpoint_id{}));
    } else if (kind == wire::frame_kind::flush) {
      const auto flush = *wire::parse_flush(payload);
      say(at, wire::make_flushed({flush.from, flush.number, wire::max_hops, flush.to}));
    } else if (kind == wire::frame_kind::records) {
      const auto batch = *wire::parse_batch(payload);
      const auto hops = wire::hops_come(batch.header.origin.hops_left);
      say(at, wire::make_credit({static_cast<std::uint8_t>(hops),
                                 static_cast<std::uint32_t>(batch.records.size())}));
    }
  }

  // -- what must hold ----------------------------------------------------------------------------

  static void check_sums(const link_counters& x) {
    check(x.offered == x.sent + x.dropped() + x.queued, "the counters of links add up");
  }
  static void check_sums(const subscriber_counters& x) {
    check(x.offered == x.delivered + x.dropped() + x.queued, "the counters of subscribers add up");
  }

  void check_books() const {
    for (const auto& each : peers_)
      if (each.carrier)
        check_sums(each.carrier->counters());
    for (const auto& each : subscribers_)
      if (each.queue)
        check_sums(each.queue->counters());
    const auto sum = node_->counts.sum();
    check_sums(sum.links);
    check_sums(sum.subscribers);
    check(sum.received == sum.links.received, "what is received came over links");
  }

  void finish() {
    if ((flags_ & leaves_in_order) != 0)
      node_->peers->close(0ms);
    else
      for (const auto& each : node_->links)
        each->end({});
    loop_->run();
    for (const auto& each : node_->links)
      check(each->closed(), "every link is closed");
    for (auto& each : peers_)
      if (each.carrier)
        std::ignore = read(each);
    check(node_->peers->links().empty() && node_->peers->peers().empty(), "no peer is left");
    for (const auto& each : node_->routes.nodes())
      check(each.next_hop.is_nil(), "no node is within reach");
    node_->routes.close();
    for (auto& each : subscribers_)
      if (each.queue) {
        drain(each, 1'000'000);
        check(each.queue->finished(), "every subscription has ended");
      }
    check_books();
    forget();
  }

  /// The node goes: then there must be no timer, session, link or queue that keeps another alive.
  void forget() {
    std::vector<std::weak_ptr<void>> all{loop_};
    for (const auto& each : node_->links)
      all.push_back(each);
    for (const auto& each : subscribers_)
      if (each.queue)
        all.push_back(each.queue);
    node_.reset();
    peers_ = {};
    subscribers_ = {};
    loop_.reset();
    for (const auto& each : all)
      check(each.expired(), "a node that is gone leaves nothing behind");
  }

  program_reader in_;
  std::uint8_t flags_ = 0;
  queue_options queue_bounds_;
  std::optional<fake_node> node_;
  std::shared_ptr<test::fake_loop> loop_;
  std::array<peer_place, 4> peers_;
  std::array<subscriber_place, 4> subscribers_;
  std::size_t said_ = 0;
};

void try_input(std::span<const std::byte> program) {
  static const bool silent = [] {
    set_log_hook({});
    return true;
  }();
  std::ignore = silent;
  play{program}.run();
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
