// The part of the session that asks: whether the peer lives, has read everything, how it is, and
// whether messages come back over another.
#include "node/peering/session.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "node/peering/tuning.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/status_frame.hpp"

namespace pubsub {

namespace {

// Payloads of pings, which only the side that sends them interprets.
constexpr std::string_view question_mark = "ASK";
constexpr std::string_view sign_of_life = "HERE";
using question_payload = std::array<std::byte, question_mark.size() + sizeof(std::uint32_t)>;

question_payload make_question(std::uint32_t number) {
  question_payload result;
  std::ranges::copy(std::as_bytes(std::span{question_mark}), result.begin());
  store_be(result.data() + question_mark.size(), number);
  return result;
}

} // namespace

// -- liveness ----------------------------------------------------------------------------------

/// Looks at the link now and then, as long as it is open.
void session::watch_over_peer() {
  look_->start(life_.interval(), [self = shared_from_this()] {
    if (!self->closed_)
      self->look_at_peer();
  });
}

void session::look_at_peer() {
  switch (life_.look(link_->now(), picture())) {
  case liveness::verdict::alive:
    break;
  case liveness::verdict::speak:
    if (link_->control_bytes() == 0) // else it has not even taken what is there
      link_->push_control(
          wire::make_ping(owner_->self(), remote(), std::as_bytes(std::span{sign_of_life})));
    break;
  case liveness::verdict::dead:
    counts_->silent_peers.add(1);
    return cut({errc::peer_timeout, "nothing heard for " +
                                        std::to_string(owner_->options().liveness_timeout.count()) +
                                        " ms"});
  }
  watch_over_peer();
}

/// A Broker peer need not ping by itself, and cannot answer pings it does not read: as long as
/// it reads nothing, its silence means nothing. (A host that is gone is noticed by TCP then.)
liveness::picture session::picture() const {
  const auto now = link_->counters();
  const bool cannot_answer = link_->version() < 2 && now.queued > 0;
  return {.bytes_heard = now.bytes_received,
          .bytes_written = now.bytes_sent,
          .pauses = link_->pause_count(),
          .paused = link_->paused() || cannot_answer};
}

// -- circles -----------------------------------------------------------------------------------

void session::start_probing() {
  prober_.emplace(owner_->self(), remote(), link_,
                  [&routes = owner_->routes(), over = remote(),
                   version = std::uint64_t{0}](std::vector<std::string>& topics) mutable {
                    routes.forget_old_circles();
                    if (const auto now = routes.version(); std::exchange(version, now) != now)
                      topics = routes.topics_to_probe(over);
                  });
  prober_->start(shared_from_this());
}

// -- questions ---------------------------------------------------------------------------------

inquiries::ticket session::ask_whether_read() {
  auto result = asked_.open();
  link_->push_control(wire::make_ping(owner_->self(), remote(), make_question(result.number)));
  return result;
}

void session::on_pong(std::span<const std::byte> payload) {
  if (leaving_ && std::ranges::equal(payload, goodbye_))
    return link_->close_when_written();
  if (payload.size() == question_payload{}.size() &&
      std::memcmp(payload.data(), question_mark.data(), question_mark.size()) == 0)
    asked_.answer(load_be<std::uint32_t>(payload.data() + question_mark.size()));
}

expected<std::string> session::ask_status(const deadline& until) {
  if (link_->version() < 2)
    return error{errc::not_supported,
                 to_string(remote()) + " speaks version 1, which knows no status"};
  const auto asked = asked_.open();
  link_->push_control(wire::make_status_request(asked.number));
  switch (asked.question->wait(until)) {
  case inquiry::outcome::open:
    asked_.forget(asked.number);
    return error{errc::request_timeout,
                 to_string(remote()) + " has not announced its status in time"};
  case inquiry::outcome::gone:
    return error{errc::peer_unavailable, "the link to " + to_string(remote()) + " was lost"};
  case inquiry::outcome::answered:
    break;
  }
  auto text = asked.question->take_answer();
  if (text.empty())
    return error{errc::not_supported, to_string(remote()) + " does not tell its status"};
  return text;
}

bool session::on_status_frame(std::span<const std::byte> payload) {
  const auto frame = wire::parse_status_frame(payload);
  if (!frame)
    return false;
  if (frame->kind == wire::status_kind::reply)
    asked_.answer(frame->number, std::string{frame->text});
  else if (link_->control_bytes() > peering_tuning::max_unread_reply_bytes)
    cut({errc::limit_exceeded, "the peer asks for status and does not read the answers"});
  else
    link_->push_control(wire::make_status_reply(frame->number, owner_->status_reply()));
  return true;
}

} // namespace pubsub
