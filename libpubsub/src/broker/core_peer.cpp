// Broker 1.4: the bridge is an actor in the actor system of the endpoint, and a peer of its core.
// SPDX-License-Identifier: BSD-3-Clause
#include "broker/broker_side.hpp"
#include "broker/conversion.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <broker/atoms.hh>
#include <broker/endpoint.hh>
#include <broker/filter_type.hh>
#include <broker/message.hh>
#include <caf/attach_stream_source.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stream_sink.hpp>

namespace pubsub::broker {

namespace {

namespace atom = ::broker::atom;
using ::broker::node_message;

/// Messages on their way to Broker that wait for its credit, at most.
constexpr std::size_t capacity_messages = 4096;
/// How long to wait before looking again whether Broker has read everything.
constexpr std::chrono::milliseconds time_to_read{2};

/// One hop: the endpoint's own subscribers. Broker counts it down and passes nothing on to its
/// peers, so a message that has come from here goes to no other bridge, and comes to no other
/// endpoint of Broker from which it could return.
constexpr std::uint16_t hops = 1;

/// What the actor and the threads of the bridge share.
class core_peer : public broker_side {
public:
  core_peer(std::shared_ptr<inlet> to, std::function<void()> on_gone)
      : inlet_(std::move(to)), on_gone_(std::move(on_gone)) {}

  bool wait_ready(deadline until) override {
    std::unique_lock lock{mutex_};
    return changed_.wait_until(lock, until, [this] { return ready_ || gone_; }) && !gone_;
  }
  bool give(const std::vector<data_message>& messages) override {
    convert(messages);
    std::unique_lock lock{mutex_};
    while (waiting_.size() >= capacity_messages && !gone_)
      if (!limit_)
        changed_.wait(lock);
      else if (changed_.wait_until(lock, *limit_) == std::cv_status::timeout)
        return false;
    if (gone_)
      return false;
    const bool was_empty = waiting_.empty();
    std::ranges::move(converted_, std::back_inserter(waiting_));
    if (was_empty && !waiting_.empty())
      wake();
    return true;
  }
  std::uint64_t unconvertible() const override {
    return unconvertible_.load(std::memory_order_relaxed);
  }
  void limit(deadline until) override {
    std::lock_guard lock{mutex_};
    limit_ = until;
    changed_.notify_all();
  }
  std::uint64_t given() const override {
    std::lock_guard lock{mutex_};
    return given_;
  }
  void resume() override {
    std::lock_guard lock{mutex_};
    wake();
  }
  void leave(deadline until) override {
    std::unique_lock lock{mutex_};
    if (actor_ && !gone_)
      ::caf::anon_send(actor_, atom::shutdown::value);
    const auto is_gone = [this] { return gone_; };
    if (changed_.wait_until(lock, until, is_gone))
      return;
    if (actor_)
      ::caf::anon_send_exit(actor_, ::caf::exit_reason::kill);
    changed_.wait_until(lock, std::chrono::steady_clock::now() + std::chrono::seconds{1}, is_gone);
    on_gone_ = {};
    changed_.wait(lock, [this] { return !telling_; });
  }
  bool gone() const override {
    std::lock_guard lock{mutex_};
    return gone_;
  }

  // For the actor.

  inlet& to_ours() noexcept { return *inlet_; }
  void set_actor(::caf::actor actor) {
    std::lock_guard lock{mutex_};
    if (!gone_ && on_gone_)
      actor_ = std::move(actor);
  }
  void set_ready() {
    std::lock_guard lock{mutex_};
    ready_ = true;
    changed_.notify_all();
  }
  /// Called when the actor ends: nothing of its system is touched from now on.
  void set_gone() {
    std::unique_lock lock{mutex_};
    actor_ = nullptr;
    if (const auto tell = std::exchange(on_gone_, {})) {
      telling_ = true;
      lock.unlock();
      tell();
      lock.lock();
      telling_ = false;
    }
    gone_ = true;
    changed_.notify_all();
  }
  /// Takes up to `n` messages out.
  void pull(::caf::downstream<node_message>& out, std::size_t n) {
    std::lock_guard lock{mutex_};
    const auto some = std::min(n, waiting_.size());
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(some);
    std::for_each(waiting_.begin(), end, [&](auto& each) {
      out.push(::broker::make_node_message(std::move(each), hops));
    });
    waiting_.erase(waiting_.begin(), end);
    given_ += some;
    if (waiting_.size() < capacity_messages)
      changed_.notify_all();
  }
  bool all_pulled() const {
    std::lock_guard lock{mutex_};
    return waiting_.empty();
  }

private:
  /// Messages in a row are often on one topic.
  void convert(const std::vector<data_message>& messages) {
    converted_.clear();
    for (const auto& each : messages) {
      auto value = broker_value(get_view(each));
      if (!value) {
        unconvertible_.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      if (const auto topic = get_topic(each); topic_.string() != topic)
        topic_ = ::broker::topic{std::string{topic}};
      converted_.push_back(::broker::make_data_message(topic_, std::move(*value)));
    }
  }
  /// mutex_ is held.
  void wake() {
    if (actor_)
      ::caf::anon_send(actor_, atom::resume::value);
  }

  const std::shared_ptr<inlet> inlet_;
  std::vector<::broker::data_message> converted_; // of the thread that gives
  ::broker::topic topic_;                         // of the last one
  std::atomic<std::uint64_t> unconvertible_{0};
  mutable std::mutex mutex_; // guards the following
  std::condition_variable changed_;
  std::function<void()> on_gone_;
  std::deque<::broker::data_message> waiting_;
  std::uint64_t given_ = 0;
  std::optional<deadline> limit_;
  ::caf::actor actor_; // null before it has begun and once it has ended
  bool ready_ = false;
  bool telling_ = false; // on_gone_ is being called
  bool gone_ = false;
};

/// Reads what the core sends to a peer.
class core_sink : public ::caf::stream_sink<node_message> {
public:
  core_sink(::caf::scheduled_actor* self, std::shared_ptr<core_peer> peer)
      : ::caf::stream_manager(self), ::caf::stream_sink<node_message>(self),
        peer_(std::move(peer)) {}

  bool congested() const noexcept override { return peer_->to_ours().holds_back(); }

protected:
  void handle(::caf::inbound_path*, ::caf::downstream_msg::batch& batch) override {
    using messages = std::vector<node_message>;
    if (!batch.xs.match_elements<messages>())
      return;
    auto& to = peer_->to_ours();
    for (const auto& each : batch.xs.get_as<messages>(0))
      if (::broker::is_data_message(each)) {
        const auto& message = ::caf::get<::broker::data_message>(each.content);
        to.add(::broker::get_topic(message).string(),
               [&](data_writer& out) { return encode(::broker::get_data(message), out); });
      }
    to.commit();
  }

private:
  const std::shared_ptr<core_peer> peer_;
};

/// The actor. It speaks as the core of another endpoint would: it asks for messages, gets a stream
/// of them, and opens one to the core. Broker sends nothing back over the streams of a peer that
/// has come over them, and what it publishes itself it sends to peers only, never to own
/// subscribers.
class peer_actor {
public:
  peer_actor(::caf::event_based_actor* self, std::shared_ptr<core_peer> peer, ::caf::actor core)
      : self_(self), peer_(std::move(peer)), core_(std::move(core)) {}

  void open(const ::caf::stream<node_message>& in) {
    if (sink_)
      return;
    sink_ = ::caf::make_counted<core_sink>(self_, peer_);
    sink_->add_unchecked_inbound_path(in);
    ::caf::atom_value ok = ::caf::ok_atom::value;
    source_ = ::caf::attach_stream_source(
                  self_, core_, std::make_tuple(ok, ::caf::actor{self_}), [](::caf::unit_t&) {},
                  [peer = peer_](::caf::unit_t&, ::caf::downstream<node_message>& out,
                                 std::size_t n) { peer->pull(out, n); },
                  [](const ::caf::unit_t&) { return false; })
                  .ptr();
    peer_->set_ready();
  }
  void resume() {
    if (source_ && source_->generate_messages())
      source_->push();
  }
  /// Leaves once the core has read everything.
  void leave() {
    if (leaving_)
      return;
    resume();
    if (source_ && !(peer_->all_pulled() && source_->out().clean())) {
      self_->delayed_send(self_, time_to_read, atom::shutdown::value);
      return;
    }
    leaving_ = true;
    self_->request(core_, std::chrono::seconds{1}, atom::unpeer::value, ::caf::actor{self_})
        .then([self = self_] { self->quit(); }, [self = self_](::caf::error&) { self->quit(); });
  }

private:
  ::caf::event_based_actor* const self_;
  const std::shared_ptr<core_peer> peer_;
  const ::caf::actor core_;
  ::caf::intrusive_ptr<core_sink> sink_;
  ::caf::intrusive_ptr<::caf::stream_source<::caf::broadcast_downstream_manager<node_message>>>
      source_;
  bool leaving_ = false;
};

::caf::behavior run_peer(::caf::event_based_actor* self, const std::shared_ptr<core_peer>& peer,
                         const ::caf::actor& core, ::broker::filter_type wanted) {
  // Broker's endpoint waits for all actors of its system, so this one must not outlive the core.
  self->monitor(core);
  self->set_down_handler([self](const ::caf::down_msg&) { self->quit(); });
  self->set_default_handler(::caf::drop);
  self->attach_functor([peer] { peer->set_gone(); });
  const auto at = std::make_shared<peer_actor>(self, peer, core);
  self->send(core, atom::peer::value, std::move(wanted), ::caf::actor{self});
  return {
      [at](const ::caf::stream<node_message>& in, const ::broker::filter_type&,
           const ::caf::actor&) { at->open(in); },
      [](atom::update, const ::broker::filter_type&) {}, // what Broker's subscribers want
      [at](atom::resume) { at->resume(); },
      [at](atom::shutdown) { at->leave(); },
  };
}

} // namespace

expected<std::shared_ptr<broker_side>> enter(::broker::endpoint& theirs, const filter& wanted,
                                             std::shared_ptr<inlet> to,
                                             std::function<void()> on_gone) {
  if (theirs.is_shutdown())
    return error{errc::shutting_down, "Broker's endpoint is shut down"};
  ::broker::filter_type topics;
  for (const auto& each : wanted)
    topics.emplace_back(each);
  auto peer = std::make_shared<core_peer>(std::move(to), std::move(on_gone));
  peer->set_actor(theirs.system().spawn(run_peer, peer, theirs.core(), std::move(topics)));
  return std::shared_ptr<broker_side>{std::move(peer)};
}

} // namespace pubsub::broker
