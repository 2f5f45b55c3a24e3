#include "node/peering/session.hpp"

#include <algorithm>
#include <exception>

#include "base/bytes.hpp"
#include "node/flow/broker_reader.hpp"
#include "node/flow/native_reader.hpp"
#include "node/peering/tuning.hpp"
#include "wire/broker/circle_probe.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

session::session(std::shared_ptr<session_owner> owner, std::shared_ptr<peer_link> carrier,
                 wire::tcp_role role, std::shared_ptr<peer_request> request)
    : owner_(std::move(owner)), link_(std::move(carrier)), request_(std::move(request)),
      handshake_(role, make_environment()), timer_(link_->make_timer()),
      life_(owner_->options().liveness_timeout), look_(link_->make_timer()),
      again_(link_->make_timer()) {}

wire::handshake::environment session::make_environment() {
  return {
      .self = owner_->self(),
      .max_version =
          owner_->options().max_wire_version,
      .local_filter =
          [this](const endpoint_id& remote) {
            if (handshake_.version() == 1) // nodes of version 2 announce more, and later
              announced_ = owner_->routes().announcement_for(remote);
            return announced_;
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

void session::arm_timer(std::chrono::milliseconds timeout, error reason) {
  timer_->start(timeout,
                [self = shared_from_this(), reason = std::move(reason)] { self->cut(reason); });
}

void session::on_frames(const frame_batch& frames) {
  auto rest = frames.bytes;
  while (!reader_ && !rest.empty()) {
    const auto size = wire::frame_header_bytes + load_be<std::uint32_t>(rest.data());
    act_on(handshake_.receive(
        rest.subspan(wire::frame_header_bytes, size - wire::frame_header_bytes)));
    if (const auto state = handshake_.state();
        state == wire::handshake::outcome::failed || state == wire::handshake::outcome::redundant)
      return;
    rest = rest.subspan(size);
  }
  if (reader_ && !rest.empty())
    reader_->receive(frames.owner, rest);
}

void session::act_on(wire::handshake::outcome outcome) {
  switch (outcome) {
  case wire::handshake::outcome::running:
  case wire::handshake::outcome::paused:
    return;
  case wire::handshake::outcome::peered:
    return begin_messages();
  case wire::handshake::outcome::redundant:
  case wire::handshake::outcome::failed:
    timer_->stop();
    return link_->close_when_written(); // a drop_conn may be on its way
  }
}

void session::begin_messages() {
  link_->begin_messages(handshake_.version(), owner_->self(), owner_->options().max_frame_bytes);
  counts_ = owner_->make_counters();
  message_reader::environment env{.self = owner_->self(),
                                  .remote = remote(),
                                  .via = link_,
                                  .forwarding = owner_->options().forwarding == forwarding::on,
                                  .on_control = [this](const auto& x) { on_control(x); },
                                  .on_status_frame = [this](auto x) { return on_status_frame(x); },
                                  .on_news = [this](auto kind, auto x) { return on_news(kind, x); },
                                  .on_violation = [this](error reason) { cut(std::move(reason)); },
                                  .call_back =
                                      [weak = weak_from_this()](auto delay) {
                                        if (auto self = weak.lock())
                                          self->call_back(delay);
                                      }};
  if (link_->version() == 1) {
    reader_ = std::make_unique<broker_reader>(std::move(env), owner_->routes(), counts_);
    become_peered();
    start_probing();
  } else {
    reader_ = std::make_unique<native_reader>(std::move(env), owner_->routes(), counts_);
    owner_->routes().add_neighbour(remote(), link_);
  }
}

/// From any thread.
void session::call_back(std::chrono::milliseconds delay) {
  link_->post([self = shared_from_this(), delay] {
    if (self->closed_)
      return;
    if (delay.count() == 0)
      return self->go_on_waiting();
    if (std::exchange(self->again_armed_, true))
      return;
    self->again_->start(delay, [self] {
      self->again_armed_ = false;
      if (!self->closed_)
        self->go_on_waiting();
    });
  });
}

void session::go_on_waiting() {
  try {
    reader_->go_on();
    say_last_words();
  } catch (const std::exception& failed) { // out of memory: this link goes, the process stays
    cut({errc::unspecified, failed.what()});
  }
}

void session::become_peered() {
  timer_->stop();
  peered_ = true;
  owner_->on_peered(shared_from_this());
  watch_over_peer();
}

bool session::on_news(wire::frame_kind kind, std::span<const std::byte> payload) {
  auto& routes = owner_->routes();
  const auto report = [&](auto news) { return news && routes.receive(remote(), std::move(*news)); };
  const auto letter = [&](const auto& news) {
    if (news)
      routes.receive(*news);
    return news.has_value();
  };
  switch (kind) {
  case wire::frame_kind::neighbours:
    return report(wire::parse_neighbours(payload));
  case wire::frame_kind::filter:
    return report(wire::parse_filter_report(payload));
  case wire::frame_kind::question:
    return letter(wire::parse_question(payload));
  case wire::frame_kind::answer:
    return letter(wire::parse_answer(payload));
  case wire::frame_kind::flushed:
    return letter(wire::parse_flushed(payload));
  default: // all is known
    if (!peered_)
      become_peered();
    return true;
  }
}

void session::on_control(const wire::envelope_view& envelope) {
  if (envelope.sender != remote())
    return; // only direct peers may say this
  switch (envelope.type) {
  case wire::envelope_type::routing_update:
    if (auto wanted = wire::parse_filter(envelope.payload)) {
      if (!leaving_ && link_->version() == 1)
        owner_->routes().set_filter(remote(), std::move(*wanted));
    } else {
      cut({errc::invalid_message, "the peer sent a malformed routing update"});
    }
    return;
  case wire::envelope_type::ping:
    if (link_->control_bytes() > peering_tuning::max_unread_control_bytes)
      return cut({errc::limit_exceeded, "the peer sends pings and does not read the answers"});
    if (link_->version() >= 2 && is_goodbye(envelope.payload))
      return on_goodbye(envelope.payload);
    return link_->push_control(wire::make_pong(owner_->self(), remote(), envelope.payload));
  case wire::envelope_type::pong:
    return on_pong(envelope.payload);
  case wire::envelope_type::command: // data stores are not ours
    if (const auto probe = wire::parse_circle_probe(envelope.payload))
      owner_->routes().receive_probe(remote(), probe->from, probe->over, envelope.topic);
    return;
  default:
    return;
  }
}

void session::on_closed(const error& reason) {
  closed_ = true;
  timer_->stop();
  look_->stop();
  again_->stop();
  if (prober_)
    prober_->stop();
  asked_.end();
  if (reader_)
    reader_->end();
  cut_off_ = leaving_ && reason == errc::peer_timeout;
  auto outcome = handshake_.state();
  if (outcome == wire::handshake::outcome::peered && !peered_) {
    owner_->routes().remove_peers({remote()});
    outcome = wire::handshake::outcome::failed;
  }
  const auto& failure = handshake_.failure();
  owner_->on_closed(shared_from_this(), outcome, failure ? failure : reason);
}

void session::go_on() {
  link_->post([self = shared_from_this()] { self->act_on(self->handshake_.proceed_now()); });
}

void session::reject() {
  link_->post([self = shared_from_this()] {
    self->act_on(self->handshake_.reject(errc::redundant_connection, "redundant connection"));
  });
}

void session::cut(error reason) {
  link_->close(std::move(reason));
}

} // namespace pubsub
