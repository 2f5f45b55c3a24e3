// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket/client.hpp"

#include "cluster/websocket/tuning.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::cluster {

namespace {

/// A reason has to fit into a control frame.
websocket::close_reason make_reason(websocket::close_code code, std::string_view text) {
  websocket::close_reason result{code};
  text = text.substr(0, result.reason.max_size());
  result.reason.assign(text.data(), text.size());
  return result;
}

/// Of an event that was handed to the network; not of one that waits for it.
void count_published(websocket_server_counters& counts, publish_result result) noexcept {
  switch (result) {
  case publish_result::taken:
  case publish_result::dropped: // by a queue that counts it
    return add(counts.events_received);
  case publish_result::unwanted:
    return add(counts.unwanted);
  case publish_result::refused:
    return add(counts.refused_events);
  case publish_result::would_block:
    return;
  }
}

} // namespace

client::client(client_host& host, asio::io_context& loop)
    : host_(host), loop_(loop), news_fd_(loop), events_fd_(loop), ready_fd_(loop),
      ping_timer_(loop), timer_(loop) {}

client::~client() {
  end_node(); // where the loop is gone before the connection
}

// -- from the handshake to the subscriptions -----------------------------------------------------

std::optional<http_refusal> client::on_request(const upgrade_request& request,
                                               peer_identity identity, const std::string& address) {
  auto& counts = host_.counts();
  if (!is_allowed_origin(request, host_.options().allowed_origins)) {
    add(counts.refused);
    is_refused_ = true;
    return http_refusal{403, "Pages of this origin may not connect."};
  }
  upgrade_ = read_upgrade(request);
  identity_ = std::move(identity);
  identity_.token = upgrade_.token;
  name_ = client_node_name(upgrade_.application, address);
  shown_ = "ws://" + address;
  auto refusal = host_.admit(*this, identity_, rule_);
  if (refusal)
    add(counts.refused);
  is_refused_ = refusal.has_value();
  return refusal;
}

void client::limit_handshake() {
  timer_.expires_after(std::chrono::ceil<clock::duration>(host_.options().handshake_timeout));
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && self->state_ == phase::handshake)
      self->cut();
  });
}

void client::on_upgraded() {
  timer_.cancel();
  add(host_.counts().accepted);
  state_ = phase::subscribing;
  keep_alive();
  if (upgrade_.refusal) {
    tell(upgrade_.refusal->code, upgrade_.refusal->context);
    return close(websocket::close_code::policy_error, upgrade_.refusal->context);
  }
  receive_next();
}

void client::tell(std::string_view code, std::string_view context) {
  send(error_message({std::string{code}, std::string{context}}));
}

void client::on_text(std::string_view text) {
  heard_ = true;
  if (state_ == phase::subscribing)
    return subscribe(text);
  if (state_ != phase::exchanging)
    return;
  if (const auto read = read_event(text, event_); !read) {
    add(host_.counts().malformed);
    tell(websocket_code::deserialization_failed, read.error().context());
    return receive_next();
  }
  publish();
}

void client::subscribe(std::string_view text) {
  auto prefixes = read_subscriptions(text);
  if (!prefixes) {
    add(host_.counts().malformed);
    tell(websocket_code::deserialization_failed, prefixes.error().context());
    return close(websocket::close_code::policy_error, prefixes.error().context());
  }
  state_ = phase::opening;
  stopped_reading_ = true; // until it is acknowledged: what comes meanwhile waits in the socket
  host_.make_node(shared_from_this(), {.name = name_,
                                       .address = {},
                                       .alias = shown_,
                                       .prefixes = std::move(*prefixes),
                                       .queue = host_.options().queue,
                                       .access = rule_ ? std::optional{*rule_} : std::nullopt});
}

// -- its node ------------------------------------------------------------------------------------

void client::take_node(expected<std::unique_ptr<client_node>> made) {
  if (state_ != phase::opening) {
    if (made)
      host_.destroy_node(std::move(*made));
    return;
  }
  if (!made)
    return close(websocket::close_code::try_again_later, made.error().message());
  node_ = std::move(*made);
  news_fd_.assign(node_->news.fd());
  events_fd_.assign(node_->events.fd());
  watch_news();
  timer_.expires_after(websocket_tuning::peering_timeout);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && self->state_ == phase::opening)
      self->close(websocket::close_code::try_again_later, "the node takes no more clients");
  });
}

void client::watch_news() {
  news_fd_.async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](error_code failure) {
                        if (!failure && self->node_)
                          self->read_news();
                      });
}

void client::read_news() {
  while (node_) {
    const auto what = node_->news.try_get();
    if (!what)
      break;
    take_news(*what);
  }
  if (node_ && !is_closing())
    watch_news();
}

/// The peering is with the endpoint: it is there, it refuses something, or it is gone.
void client::take_news(const status& what) {
  if (is_closing())
    return;
  if (what.is_error())
    return tell(to_string(what.failure()), what.message());
  if (what.code() == status_code::peer_added && state_ == phase::opening) {
    wait_ready();
  } else if (what.code() == status_code::peer_lost || what.code() == status_code::peer_removed) {
    if (what.in_good_order())
      close(websocket::close_code::going_away, "Terminating");
    else
      close(websocket::close_code::policy_error, what.message());
  }
}

void client::wait_ready() {
  ready_ = node_->events.begin_ready();
  error_code failure; // without a descriptor the timer decides
  ready_fd_.assign(ready_->fd(), failure);
  ready_fd_.async_wait(asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](error_code cancelled) {
                         if (!cancelled)
                           self->acknowledge();
                       });
  timer_.expires_after(websocket_tuning::readiness_timeout);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled)
      self->acknowledge();
  });
}

void client::stop_waiting() {
  if (!ready_)
    return;
  ready_fd_.release(); // its owner closes it
  ready_.reset();
}

void client::acknowledge() {
  if (state_ != phase::opening || !node_)
    return;
  stop_waiting();
  timer_.cancel();
  state_ = phase::exchanging;
  send(ack_message(host_.ack()));
  watch_events();
  receive_next();
}

void client::end_node() {
  if (!node_)
    return;
  auto& counts = host_.counts();
  const auto left = node_->events.counters();
  add(counts.dropped, left.dropped());
  add(counts.unsent, batch_.size() - next_in_batch_ + left.queued);
  batch_.clear();
  next_in_batch_ = 0;
  news_fd_.release(); // the node closes them
  events_fd_.release();
  stop_waiting();
  host_.destroy_node(std::move(node_));
}

// -- events --------------------------------------------------------------------------------------

void client::publish() {
  const auto result = node_->node.try_publish(event_.topic, event_.value.bytes());
  count_published(host_.counts(), result);
  if (result != publish_result::would_block)
    return receive_next();
  stopped_reading_ = true;
  timer_.expires_after(websocket_tuning::retry_interval);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && self->state_ == phase::exchanging)
      self->publish();
  });
}

/// A client that makes the server answer and does not read the answers is not read from.
void client::receive_next() {
  if (is_closing())
    return;
  stopped_reading_ = waits_to_read_ = !has_room();
  if (!stopped_reading_)
    return receive();
  wait_for_room();
}

void client::wait_for_room() {
  if (!std::exchange(waits_for_room_, true))
    after_progress();
}

void client::watch_events() {
  events_fd_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this()](error_code failure) {
                          if (!failure)
                            self->send_events();
                        });
}

void client::send_events() {
  if (state_ != phase::exchanging || !node_)
    return;
  auto& counts = host_.counts();
  std::uint64_t sent = 0;
  std::uint64_t others = 0;
  if (next_in_batch_ == batch_.size()) {
    batch_.clear();
    next_in_batch_ = 0;
    const auto found = node_->events.get_batch_for(batch_, websocket_tuning::messages_a_turn, {});
    if (found == receive_status::closed)
      return close(websocket::close_code::policy_error, "the client did not keep up");
  }
  for (; next_in_batch_ < batch_.size() && has_room(); ++next_in_batch_) {
    const auto& message = batch_[next_in_batch_];
    text_.clear();
    if (append_event(text_, get_topic(message), get_view(message))) {
      send(text_);
      ++sent;
    } else {
      ++others;
    }
  }
  add(counts.events_sent, sent);
  add(counts.not_events, others);
  if (next_in_batch_ < batch_.size()) {
    wait_for_room();
  } else if (batch_.size() == websocket_tuning::messages_a_turn) {
    asio::post(loop_, [self = shared_from_this()] { self->send_events(); });
  } else {
    watch_events();
  }
}

void client::resume() {
  waits_for_room_ = false;
  if (is_closing())
    return;
  if (!has_room())
    return wait_for_room();
  if (next_in_batch_ < batch_.size())
    send_events();
  if (waits_to_read_)
    receive_next();
}

// -- life and end --------------------------------------------------------------------------------

/// A client has to answer a ping, or to say something else, before the next one. As long as a ping
/// waits behind events, it is enough that the client takes those; and one that is not read from
/// cannot be heard.
void client::keep_alive() {
  const auto interval = host_.options().ping_interval;
  if (interval <= interval.zero() || is_closing())
    return;
  const bool takes = was_behind_ && written_bytes() != written_then_;
  if (!heard_ && !takes && !stopped_reading_) {
    add(host_.counts().timed_out);
    return close(websocket::close_code::internal_error, "Ping timeout");
  }
  heard_ = false;
  was_behind_ = unsent_bytes() > 0;
  written_then_ = written_bytes();
  send_ping();
  ping_timer_.expires_after(std::chrono::ceil<clock::duration>(interval));
  ping_timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled)
      self->keep_alive();
  });
}

void client::look_at_rules() {
  if (is_upgraded() && !is_closing() && !host_.still_holds(identity_, rule_))
    close(websocket::close_code::policy_error, "access rules have changed");
}

void client::close(websocket::close_code code, std::string_view reason) {
  if (is_closing())
    return;
  if (!is_upgraded()) {
    state_ = phase::closing;
    return cut();
  }
  begin_goodbye();
  send_close(make_reason(code, reason));
}

void client::begin_goodbye() {
  state_ = phase::closing;
  ping_timer_.cancel();
  timer_.expires_after(websocket_tuning::goodbye_timeout);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled)
      self->cut();
  });
}

void client::on_end() {
  if (state_ == phase::ended)
    return;
  if (state_ == phase::handshake && !is_refused_) {
    add(host_.counts().failed);
  }
  state_ = phase::ended;
  timer_.cancel();
  ping_timer_.cancel();
  end_node();
  cut();
  host_.forget(*this);
}

} // namespace pubsub::cluster
