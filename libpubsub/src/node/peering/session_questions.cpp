// The part of the session that asks: whether the peer lives, has read everything, how it is, and
// whether messages come back over another.
#include "node/peering/session.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "node/peering/peering.hpp"
#include "wire/broker/circle_probe.hpp"
#include "wire/native/status_frame.hpp"

namespace pubsub {

namespace {

constexpr std::size_t max_probes_at_once = 256;
constexpr std::size_t max_unread_reply_bytes = 4 * wire::max_status_text_bytes;

// Payloads of pings, which only the side that sends them interprets (broker-wire-v1, section 10).
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
  look_.expires_after(life_.interval());
  look_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && !self->closed_)
      self->look_at_peer();
  });
}

void session::look_at_peer() {
  switch (life_.look(std::chrono::steady_clock::now(), picture())) {
  case liveness::verdict::alive:
    break;
  case liveness::verdict::speak:
    if (link_->control_bytes() == 0) // else it has not even taken what is there
      link_->push_control(
          wire::make_ping(peering_->self(), remote(), std::as_bytes(std::span{sign_of_life})));
    break;
  case liveness::verdict::dead:
    counts_->silent_peers.add(1);
    return cut({errc::peer_timeout,
                "nothing heard for " +
                    std::to_string(peering_->options().liveness_timeout.count()) + " ms"});
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

void session::probe_now_and_then() {
  probe_.expires_after(circles::time_between_probes);
  probe_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (cancelled || self->closed_ || self->leaving_)
      return;
    self->probe();
    self->probe_now_and_then();
  });
}

/// Where there are many topics, one part after the other. What a peer does not read is not added
/// to.
void session::probe() {
  if (link_->control_bytes() > 0)
    return;
  auto& routes = peering_->routes();
  routes.forget_old_circles();
  if (const auto version = routes.version(); version != probed_version_) {
    topics_to_probe_ = routes.topics_to_probe(remote());
    probed_version_ = version;
  }
  const auto& topics = topics_to_probe_;
  const auto n = std::min(topics.size(), max_probes_at_once);
  for (std::size_t i = 0; i < n; ++i)
    link_->push_control(wire::make_circle_probe({peering_->self(), remote()},
                                                topics[(next_to_probe_ + i) % topics.size()]));
  next_to_probe_ += n;
}

// -- questions ---------------------------------------------------------------------------------

inquiries::ticket session::ask_whether_read() {
  auto result = asked_.open();
  link_->push_control(wire::make_ping(peering_->self(), remote(), make_question(result.number)));
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
  else if (link_->control_bytes() > max_unread_reply_bytes)
    cut({errc::limit_exceeded, "the peer asks for status and does not read the answers"});
  else
    link_->push_control(wire::make_status_reply(frame->number, peering_->status_reply()));
  return true;
}

} // namespace pubsub
