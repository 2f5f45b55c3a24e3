// SPDX-License-Identifier: BSD-3-Clause
#include "member.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pubsub::zeek::backend {

namespace {

constexpr std::chrono::nanoseconds at_once{0};
/// A publisher that waits for room looks so often whether events have come.
constexpr auto time_between_looks = std::chrono::milliseconds{5};
/// Nodes answer at once; one that does not is stopped, or about to be lost.
constexpr std::chrono::nanoseconds time_for_a_route_change = std::chrono::milliseconds{200};
/// Links do not tell when they have room again: log batches that wait try so often.
constexpr auto time_between_log_attempts = std::chrono::milliseconds{10};

/// Of nodes that are not seen here.
constexpr std::size_t max_early_greetings = 10'000;

endpoint_options as_endpoint_options(const member_options& options) {
  endpoint_options result;
  result.name = options.name;
  result.forwarding = options.relay ? forwarding::on : forwarding::off;
  result.own_messages = own_messages::ignore;
  result.io_threads = options.io_threads;
  result.link_queue = options.link;
  result.tls = options.tls;
  result.liveness_timeout = options.liveness_timeout;
  return result;
}

/// An address that others listen on, for one who connects from the same host.
std::string from_this_host(std::string_view uri, std::uint16_t port) {
  const auto scheme_end = uri.find("://");
  const auto scheme = scheme_end == std::string_view::npos ? "tcp" : uri.substr(0, scheme_end);
  if (scheme == "unix")
    return std::string{uri};
  auto host = scheme_end == std::string_view::npos ? uri : uri.substr(scheme_end + 3);
  host = host.substr(0, host.rfind(':'));
  const bool any = host.empty() || host == "*" || host == "0.0.0.0" || host == "[::]";
  return std::string{scheme} + "://" + std::string{any ? "127.0.0.1" : host} + ":" +
         std::to_string(port);
}

} // namespace

member::member(member_options options, member_handler& handler)
    : options_(std::move(options)), handler_(handler), at_(as_endpoint_options(options_)),
      in_(at_.make_subscriber({}, options_.inbound)), status_(at_.make_status_subscriber()),
      network_(at_.make_network_subscriber()), nodes_(options_.nodeid_prefix) {
  for (const int each : {in_.fd(), status_.fd(), network_.fd()})
    poll_.add(each);
}

expected<void> member::start(member_place place) {
  place_ = std::move(place);
  auto out = log_sender::make(
      at_,
      [this](std::string_view topic, std::span<const std::byte> value) {
        return send(topic, value);
      },
      options_);
  if (!out)
    return out.error();
  log_out_.emplace(std::move(*out));
  if (place_.writes_logs && options_.logs != log_transport::records) {
    auto in = log_inbox::make(at_, options_);
    if (!in)
      return in.error();
    poll_.add(in->fd());
    log_in_.emplace(std::move(*in));
  }
  for (const auto& each : place_.listen) {
    const auto port = at_.listen(each);
    if (!port)
      return port.error();
    listening_at_.push_back(from_this_host(each, *port));
  }
  peer_options how;
  how.retry = options_.retry;
  how.max_retry = options_.max_retry;
  for (const auto& each : place_.connect)
    if (auto done = at_.peer_async(each, how); !done)
      return done.error();
  started_ = true;
  settle(clock::now());
  return {};
}

void member::stop(std::chrono::nanoseconds linger) {
  const auto until = clock::now() + linger;
  if (log_in_)
    log_in_->finish();
  if (log_out_)
    std::ignore = log_out_->drain(linger);
  at_.close(std::max<std::chrono::nanoseconds>(until - clock::now(), at_once));
}

// -- what comes ----------------------------------------------------------------------------------

std::optional<member::clock::time_point> member::deadline() const {
  std::optional<clock::time_point> result;
  const auto consider = [&](clock::time_point at) {
    if (!result || at < *result)
      result = at;
  };
  for (const auto& each : waiting_)
    consider(each.until);
  if (const auto due = log_in_ ? log_in_->deadline() : std::nullopt)
    consider(*due);
  if (log_out_ && log_out_->is_waiting())
    consider(clock::now() + time_between_log_attempts);
  return result;
}

void member::process(std::size_t max) {
  take_status();
  take_network_changes();
  settle(clock::now());
  if (log_out_)
    log_out_->send_waiting();
  hand_over_events(max);
  process_logs(max);
}

void member::process_logs(std::size_t max) {
  if (!log_in_)
    return;
  log_in_->acknowledge(clock::now());
  log_in_->process(max, [this](const formatted_bytes& batch) { handler_.log_batch(batch); });
}

void member::take_network_changes() {
  while (const auto change = network_.try_get()) {
    auto* pool = log_out_ ? &log_out_->pool() : nullptr;
    switch (change->change) {
    case network_change::node_added:
      break;
    case network_change::topic_added:
      if (pool != nullptr)
        pool->topic_added(change->node, change->topic);
      if (nodes_.topic_added(change->node, change->topic)) {
        handler_.node_ready(to_string(change->node));
        hand_over_greeting(change->node);
      }
      break;
    case network_change::topic_removed:
      if (pool != nullptr)
        pool->topic_removed(change->node, change->topic);
      if (nodes_.topic_removed(change->node, change->topic))
        handler_.node_lost(to_string(change->node));
      break;
    case network_change::node_lost:
      if (pool != nullptr)
        pool->node_lost(change->node);
      if (nodes_.node_lost(change->node))
        handler_.node_lost(to_string(change->node));
      break;
    }
  }
}

/// Every attempt to connect that fails is an error of its own: one of a row is enough.
void member::take_status() {
  while (const auto event = status_.try_get()) {
    has_peered_ = has_peered_ || event->code() == status_code::peer_added;
    const bool lost = event->code() == status_code::peer_lost && !event->in_good_order();
    if (lost || (event->is_error() && event->message() != last_problem_))
      handler_.link_failed(to_string(*event));
    last_problem_ = event->is_error() ? event->message() : std::string{};
  }
}

void member::hand_over_events(std::size_t max) {
  for (; max > 0 && !set_aside_.empty(); --max) {
    const auto message = std::move(set_aside_.front());
    set_aside_.pop_front();
    hand_over(message);
  }
  batch_.clear();
  if (max > 0 && in_.get_batch_for(batch_, max, at_once) == receive_status::received)
    for (const auto& each : batch_)
      hand_over(each);
  answers_to_come_ = batch_.size();
  batch_.clear(); // which makes room
}

void member::hand_over(const data_message& message) {
  const auto value = get_view(message);
  if (const auto event = zeek::view_event(value)) {
    if (greets_at_the_wrong_time(*event, message))
      return;
    ++events_.received;
    handler_.event(get_topic(message), {value_format, value.bytes()});
  } else if (const auto other = read_formatted(value)) {
    ++events_.received;
    handler_.event(get_topic(message), *other);
  } else {
    ++events_.no_event;
  }
}

/// A node asks once it sees this one, and may not be seen here yet: its question waits until it is,
/// so that the answer reaches it. A node that answers has been seen, or else is gone by now: what
/// is published for it once Zeek takes it for there would get lost. It is asked again when it is
/// back.
bool member::greets_at_the_wrong_time(const zeek::event_view& event, const data_message& message) {
  const bool asks = event.name() == "Cluster::Backend::Pubsub::hello";
  if ((!asks && event.name() != "Cluster::hello") || event.args_size() < 2)
    return false;
  const auto text = *std::next(event.args().begin());
  if (text.type() != data_type::string)
    return false; // for Zeek to complain about
  const auto id = endpoint_id::parse(text.as_string());
  if (id && nodes_.is_in_reach(*id))
    return false;
  if (asks && id && early_greetings_.size() < max_early_greetings)
    early_greetings_.insert_or_assign(*id, message);
  else
    ++events_.late_hellos;
  return true;
}

void member::hand_over_greeting(const endpoint_id& node) {
  if (auto greeting = early_greetings_.extract(node))
    hand_over(greeting.mapped());
}

// -- what goes -----------------------------------------------------------------------------------

bool member::publish(std::string_view topic, const formatted_bytes& what) {
  auto bytes = what.bytes;
  if (what.format != value_format) {
    value_.clear();
    write(value_, what);
    bytes = value_.bytes();
  }
  switch (send(topic, bytes)) {
  case publish_result::unwanted:
    ++events_.unwanted;
    [[fallthrough]];
  case publish_result::taken:
    ++events_.published;
    return true;
  case publish_result::dropped:
    ++events_.dropped;
    return false;
  case publish_result::would_block:
    ++events_.would_block;
    return false;
  case publish_result::refused:
    ++events_.refused;
    return false;
  }
  return false;
}

/// Zeek handles the events of a batch after they all were handed over, and may answer each: then
/// more than one goes at once.
publish_result member::send(std::string_view topic, std::span<const std::byte> value) {
  auto& to = publishers_.of(topic);
  to.leave_writing(answers_to_come_ > 1);
  answers_to_come_ -= answers_to_come_ > 1 ? 1 : 0;
  const auto result = to.try_publish(value);
  return result == publish_result::would_block ? wait_for_room(to, value) : result;
}

/// Where links do not block, it is a route that changes: what took the old one has to arrive first.
publish_result member::wait_for_room(publisher& to, std::span<const std::byte> value) {
  const bool blocks = options_.link.policy == overflow_policy::block;
  const auto until = clock::now() + (blocks ? options_.block_timeout : time_for_a_route_change);
  auto result = publish_result::would_block;
  while (result == publish_result::would_block && clock::now() < until) {
    result = to.publish_for(value, time_between_looks);
    if (auto came = in_.try_get_batch())
      std::ranges::move(*came, std::back_inserter(set_aside_));
  }
  return result;
}

bool member::publish_logs(const formatted_bytes& batch) {
  return log_out_ && log_out_->publish(batch);
}

log_counters member::logs() const {
  auto result = log_out_ ? log_out_->counters() : log_counters{};
  if (log_in_) {
    result.received = log_in_->received();
    result.malformed = log_in_->malformed();
  }
  return result;
}

// -- who waits -----------------------------------------------------------------------------------

void member::subscribe(std::string_view prefix, completion done) {
  in_.add_topic(prefix);
  if (done)
    wait_for(std::move(done), true);
}

void member::when_ready_to_publish(completion done) {
  wait_for(std::move(done), false);
}

void member::wait_for(completion done, bool needs_subscription) {
  const auto now = clock::now();
  waiting_.push_back({std::move(done), now + options_.ready_timeout, needs_subscription, {}});
  settle(now);
}

void member::settle(clock::time_point now) {
  std::vector<std::pair<completion, std::string>> settled;
  std::erase_if(waiting_, [&](waiting& each) {
    auto result = outcome(each, now);
    if (result)
      settled.emplace_back(std::move(each.done), std::move(*result));
    return result.has_value();
  });
  for (const auto& [done, failure] : settled) // they may ask for more
    done(failure);
}

/// Nothing as long as it is open.
std::optional<std::string> member::outcome(waiting& each, clock::time_point now) {
  if (is_connected() && each.needs_subscription && !each.subscription) {
    each.subscription = in_.begin_ready();
    poll_.add(each.subscription->fd());
  }
  if (is_connected() && (!each.needs_subscription || each.subscription->ready()))
    return std::string{};
  if (now < each.until)
    return std::nullopt;
  if (is_connected())
    return "not every node has confirmed the subscription";
  return last_problem_.empty() ? "no peer is reached" : "no peer is reached: " + last_problem_;
}

expected<std::vector<std::string>> member::addresses_for_own_clients() {
  if (!listening_at_.empty())
    return std::vector{listening_at_.front()};
  if (!place_.connect.empty())
    return place_.connect;
  constexpr std::string_view within_host = "tcp://127.0.0.1:0";
  const auto port = at_.listen(within_host);
  if (!port)
    return port.error();
  listening_at_.push_back(from_this_host(within_host, *port));
  return std::vector{listening_at_.front()};
}

} // namespace pubsub::zeek::backend
