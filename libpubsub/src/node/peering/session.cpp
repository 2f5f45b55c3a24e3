// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/session.hpp"

#include <cstring>
#include <exception>

#include "base/byte_writer.hpp"
#include "node/flow/broker_reader.hpp"
#include "node/flow/native_reader.hpp"
#include "node/flow/tuning.hpp"
#include "node/peering/peer_request.hpp"
#include "node/peering/tuning.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

namespace {

// Payloads of pings, which only the side that sends them interprets.
constexpr std::string_view question_mark = "ASK";
constexpr std::string_view sign_of_life = "HERE";

std::vector<std::byte> make_question(std::uint32_t number) {
  return byte_writer{}.add_bytes(std::as_bytes(std::span{question_mark})).add(number).take();
}

} // namespace

session::session(std::shared_ptr<session_owner> owner, std::shared_ptr<peer_link> carrier,
                 wire::tcp_role role, std::shared_ptr<peer_request> request)
    : owner_(std::move(owner)), link_(std::move(carrier)), request_(std::move(request)),
      as_client_(owner_->is_client()), handshake_(role, make_environment()),
      timer_(link_->make_timer()), life_(owner_->options().liveness_timeout),
      look_(link_->make_timer()), again_(link_->make_timer()) {}

void session::arm_timer(std::chrono::nanoseconds timeout, error reason) {
  timer_->start(timeout, [self = shared_from_this(), reason = std::move(reason)] {
    self->link_->close(reason);
  });
}

// -- the handshake -------------------------------------------------------------------------------

wire::handshake::environment session::make_environment() {
  return {
      .self = owner_->self(),
      .max_version = owner_->options().max_wire_version,
      .client = as_client_,
      .name = owner_->options().name,
      .local_filter =
          [this](const endpoint_id& remote) {
            return announced_ = owner_->routes().announcement_for(remote);
          },
      .admit = [this](const endpoint_id& remote,
                      bool originator) { return owner_->admit(*this, remote, originator); },
      .is_known = [this](const endpoint_id& remote) { return owner_->is_known(remote); },
      .send = [this](std::span<const std::byte> frame) { link_->push_control(frame); },
  };
}

void session::start() {
  arm_timer(owner_->options().handshake_timeout,
            {errc::peer_timeout, "the handshake was not finished in time"});
  link_->start(shared_from_this());
  handshake_.start();
}

std::size_t session::on_frames(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) {
  const auto all = frames.size();
  while (!handshake_.over() && !frames.empty()) {
    const auto size = frame_bytes(frames.data());
    act_on(handshake_.receive(frames.first(size).subspan(frame_header_bytes)));
    if (const auto state = handshake_.state();
        state == wire::handshake::outcome::failed || state == wire::handshake::outcome::redundant)
      return all;
    frames = frames.subspan(size);
  }
  if (reader_ && !frames.empty())
    return all - frames.size() + reader_->receive(owner, frames);
  return all;
}

void session::act_on(wire::handshake::outcome outcome) {
  switch (outcome) {
  case wire::handshake::outcome::running:
  case wire::handshake::outcome::paused:
    return;
  case wire::handshake::outcome::peered:
    if (!reader_)
      begin_messages();
    return;
  case wire::handshake::outcome::redundant:
  case wire::handshake::outcome::failed:
    timer_->stop();
    return link_->close_when_written(); // a drop_conn may be on its way
  }
}

void session::go_on() {
  link_->post([self = shared_from_this()] {
    if (!self->closed_)
      self->act_on(self->handshake_.proceed_now());
  });
}

void session::reject() {
  link_->post([self = shared_from_this()] {
    if (self->closed_)
      return;
    self->act_on(self->handshake_.reject(errc::redundant_connection, "redundant connection"));
  });
}

// -- messages ------------------------------------------------------------------------------------

/// The version decides here which reader there is, and in the link which protocol; nowhere else.
void session::begin_messages() {
  if (as_client_ && (handshake_.version() == 1 || handshake_.remote_is_client()))
    owner_->become_relay(handshake_.version() == 1 ? this : nullptr);
  link_->begin_messages(handshake_.version(), owner_->self(), owner_->options().max_frame_bytes);
  if (handshake_.remote_is_client())
    link_->use_one_place();
  counts_ = owner_->make_counters();
  auto env = make_reader_environment();
  parting_.emplace(owner_->self(), remote(), link_, owner_->routes(), env.call_back);
  if (handshake_.version() == 1)
    reader_ = std::make_unique<broker_reader>(std::move(env), owner_->routes(), counts_);
  else
    reader_ = std::make_unique<native_reader>(std::move(env), owner_->routes(), counts_);
  reader_->begin();
}

message_reader::environment session::make_reader_environment() {
  return {
      .self = owner_->self(),
      .remote = remote(),
      .via = link_,
      .forwarding = owner_->routes().forwards(),
      .is_client = as_client_,
      .remote_is_client = handshake_.remote_is_client(),
      .remote_name = handshake_.remote_name(),
      .subscriptions = handshake_.remote_filter(),
      .announced = announced_,
      .on_ready = [this] { become_peered(); },
      .on_ping = [this](auto payload) { on_ping(payload); },
      .on_pong = [this](auto payload) { on_pong(payload); },
      .on_refusal =
          [this](auto what) {
            if (refusals_++ < flow_tuning::most_refusals_told)
              owner_->on_refusal(*this, what);
          },
      .on_inquiry = [this](auto payload) { return on_inquiry(payload); },
      .call_back =
          [weak = weak_from_this()](auto delay) {
            if (auto self = weak.lock())
              self->call_back(delay);
          },
  };
}

void session::become_peered() {
  timer_->stop();
  peered_ = true;
  owner_->on_peered(shared_from_this());
  watch_over_peer();
}

/// From any thread.
void session::call_back(std::chrono::nanoseconds delay) {
  link_->post([self = shared_from_this(), delay] {
    if (self->closed_)
      return;
    if (delay.count() == 0)
      return self->go_on_waiting();
    const auto at = self->link_->now() + delay;
    if (at >= self->again_at_)
      return; // it comes sooner
    self->again_at_ = at;
    self->again_->start(delay, [self] {
      self->again_at_ = peer_link::clock::time_point::max();
      if (!self->closed_)
        self->go_on_waiting();
    });
  });
}

void session::go_on_waiting() {
  try {
    reader_->go_on();
    parting_->go_on();
  } catch (const std::exception& failed) { // out of memory: this link goes, the process stays
    link_->close({errc::unspecified, failed.what()});
  }
}

// -- the end -------------------------------------------------------------------------------------

void session::leave(std::chrono::nanoseconds timeout, std::vector<endpoint_id> behind) {
  link_->post([self = shared_from_this(), timeout, behind = std::move(behind)] {
    if (self->closed_ || !self->parting_->leave(timeout / 2, behind))
      return; // a timer would keep alive what has ended
    self->arm_timer(timeout, {errc::peer_timeout, "timeout during graceful disconnect"});
  });
}

void session::on_closed(const error& reason) {
  closed_ = true;
  timer_->stop();
  look_->stop();
  again_->stop();
  asked_.end();
  if (reader_)
    reader_->end();
  cut_off_ = parting_ && parting_->leaving() && reason == errc::peer_timeout;
  auto outcome = handshake_.state();
  if (reader_ && !peered_) {
    owner_->routes().remove_peers({remote()});
    outcome = wire::handshake::outcome::failed;
  }
  const auto& failure = handshake_.failure();
  owner_->on_closed(shared_from_this(), outcome, failure ? failure : reason);
}

// -- liveness ------------------------------------------------------------------------------------

/// Looks at the link now and then, as long as it is open.
void session::watch_over_peer() {
  const auto measured = link_->round_trip();
  round_trip_us_.store(measured ? measured->count() : -1, std::memory_order_relaxed);
  look_->start(life_.interval(), [self = shared_from_this()] {
    if (!self->closed_)
      self->look_at_peer();
  });
}

/// A peer whose answers wait behind its reading of messages (a Broker need not ping by itself) is
/// not silent as long as it reads nothing. (A host that is gone is noticed by TCP then.)
void session::look_at_peer() {
  const auto now = link_->counters();
  const bool cannot_answer = link_->control_waits_behind_messages() && now.queued > 0;
  const liveness::picture seen{.bytes_heard = now.bytes_received,
                               .bytes_written = now.bytes_sent,
                               .pauses = link_->pause_count(),
                               .paused = link_->paused() || cannot_answer};
  switch (life_.look(link_->now(), seen)) {
  case liveness::verdict::alive:
    break;
  case liveness::verdict::speak:
    if (link_->control_bytes() == 0) // else it has not even taken what is there
      link_->push_control(
          wire::make_ping(owner_->self(), remote(), std::as_bytes(std::span{sign_of_life})));
    break;
  case liveness::verdict::dead:
    counts_->silent_peers.add(1);
    return link_->close(
        {errc::peer_timeout, "nothing heard for " +
                                 std::to_string(std::chrono::ceil<std::chrono::milliseconds>(
                                                    owner_->options().liveness_timeout)
                                                    .count()) +
                                 " ms"});
  }
  watch_over_peer();
}

// -- questions -----------------------------------------------------------------------------------

void session::on_ping(std::span<const std::byte> payload) {
  if (parting::is_goodbye(payload))
    parting_->answer(payload);
  else
    link_->push_answer(wire::make_pong(owner_->self(), remote(), payload));
}

void session::on_pong(std::span<const std::byte> payload) {
  if (parting_->is_answer(payload))
    return link_->close_when_written();
  if (payload.size() == question_mark.size() + sizeof(std::uint32_t) &&
      std::memcmp(payload.data(), question_mark.data(), question_mark.size()) == 0)
    asked_.answer(load_be<std::uint32_t>(payload.data() + question_mark.size()), {});
}

inquiries::ticket session::ask_whether_read() {
  return asked_.open([this](std::uint32_t number) {
    link_->push_control(wire::make_ping(owner_->self(), remote(), make_question(number)));
  });
}

std::uint32_t session::ask_whether_read(std::function<void()> done) {
  return asked_.open(
      0,
      [this](std::uint32_t number) {
        link_->push_control(wire::make_ping(owner_->self(), remote(), make_question(number)));
      },
      [done = std::move(done)](const auto&) { done(); });
}

std::uint32_t session::ask(wire::inquiry what, inquiries::settle done) {
  if (!reader_->peer_can_be_asked()) {
    done({.outcome = wire::reply_outcome::not_told,
          .body = to_string(remote()) + " speaks version 1, which knows no inquiries"});
    return 0;
  }
  const auto most = what.max_bytes;
  return asked_.open(
      most,
      [link = link_, what = std::move(what)](std::uint32_t number) mutable {
        what.number = number;
        link->push_control(wire::make_inquiry(what));
      },
      std::move(done));
}

network_info session::where() const {
  const bool has_another_name = request_ && !request_->target.shown.empty();
  return has_another_name ? request_->where() : link_->remote();
}

peer_info session::describe() const {
  const auto& routes = owner_->routes();
  const auto access = link_->access();
  const held_for_peer held{*link_->topic_bytes(), routes.report_bytes(remote()),
                           link_->control_bytes(), link_->shared_bytes()};
  const auto queue = link_->options();
  const auto round_trip = round_trip_us_.load(std::memory_order_relaxed);
  return {remote(),
          name(),
          where(),
          peer_state::peered,
          routes.peer_filter(remote()),
          link_->counters(),
          link_->version(),
          held,
          access ? access->name : "",
          is_of_client(),
          false, // the peering knows
          queue.capacity_messages,
          queue.capacity_bytes,
          round_trip >= 0 ? std::optional{std::chrono::microseconds{round_trip}} : std::nullopt};
}

bool session::on_inquiry(std::span<const std::byte> payload) {
  if (auto answer = wire::parse_reply(payload)) {
    const auto number = answer->number;
    asked_.answer(number, std::move(*answer));
    return true;
  }
  auto asked = wire::parse_inquiry(payload);
  if (!asked)
    return false;
  const auto number = asked->number;
  asked->max_bytes = std::min<std::uint32_t>(asked->max_bytes, wire::max_reply_bytes);
  const auto due = std::max<std::size_t>(asked->max_bytes, peering_tuning::least_bytes_due);
  if (due_bytes_ + link_->control_bytes() + due > peering_tuning::most_bytes_due) {
    link_->push_answer(wire::make_reply({number, wire::reply_outcome::busy}));
    return true;
  }
  due_bytes_ += due;
  owner_->take_inquiry(*asked, shared_from_this(),
                       [weak = weak_from_this(), number, due](wire::reply answer) {
                         if (const auto self = weak.lock()) {
                           answer.number = number;
                           self->reply(std::move(answer), due);
                         }
                       });
  return true;
}

/// From any thread.
void session::reply(wire::reply what, std::size_t due_bytes) {
  link_->post([self = shared_from_this(), what = std::move(what), due_bytes] {
    self->due_bytes_ -= due_bytes;
    if (!self->closed_)
      self->link_->push_answer(wire::make_reply(what));
  });
}

} // namespace pubsub
