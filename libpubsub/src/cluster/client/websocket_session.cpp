// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/client/websocket_session.hpp"

#include "base/node_name.hpp"
#include "base/printable.hpp"
#include "cluster/topic_names.hpp"
#include "cluster/tuning.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/ssl/host_name_verification.hpp>
#include <poll.h>
#include <unistd.h>

namespace pubsub::cluster {

namespace {

// A server with the ZeroMQ backend gives its clients ids that begin so.
constexpr std::string_view id_with_zeromq = "zeromq_";
// Behind the id of the server, in that of a client; a number follows.
constexpr std::string_view behind_server = "-websocket-";

constexpr std::string_view data_message_begin = R"({"type":"data-message",)";

/// Zeek takes any byte within a string as it is, but a NUL as an escape only.
void escape_nuls(std::string& json) {
  if (json.find('\0') == std::string::npos)
    return;
  std::string result;
  for (const char c : json)
    if (c == '\0')
      result += "\\u0000";
    else
      result += c;
  json = std::move(result);
}

/// Throws boost::system::system_error where a file cannot be used.
asio::ssl::context context_for(const tls_options& options) {
  asio::ssl::context result{asio::ssl::context::tls_client};
  SSL_CTX_set_min_proto_version(result.native_handle(), TLS1_2_VERSION);
  result.set_verify_mode(asio::ssl::verify_peer);
  if (options.ca_file.empty() && options.ca_path.empty())
    result.set_default_verify_paths();
  if (!options.ca_file.empty())
    result.load_verify_file(options.ca_file);
  if (!options.ca_path.empty())
    result.add_verify_path(options.ca_path);
  if (options.certificate.empty())
    return result;
  result.use_certificate_chain_file(options.certificate);
  result.set_password_callback([&](std::size_t, auto) { return options.passphrase; });
  result.use_private_key_file(options.key, asio::ssl::context::pem);
  return result;
}

websocket_place place_of(const websocket_options& options, asio::io_context& loop,
                         std::optional<asio::ssl::context>& tls,
                         shared_counters<websocket_counters>& counts) {
  auto url = *read_client_url(options.url); // which was checked
  if (url.encrypted)
    tls.emplace(context_for(options.tls));
  return {options, std::move(url), loop, tls ? &*tls : nullptr, counts};
}

} // namespace

websocket_session::websocket_session(const websocket_options& options, session_host& host,
                                     shared_counters<websocket_counters>& counts)
    : options_(options), host_(host), counts_(counts),
      place_(place_of(options, loop_, tls_, counts)), wake_(loop_), outgoing_ready_(loop_),
      news_ready_(loop_), look_at_(loop_), names_(options.names) {}

websocket_session::~websocket_session() {
  if (node_)
    node_->close();
  if (outgoing_)
    add(counts_.unsent, batch_.size() - next_in_batch_ + outgoing_->counters().queued +
                            outgoing_->counters().dropped());
}

bool websocket_session::run() {
  await_end();
  begin(plan_.follow(wanted_at_first()));
  loop_.run();
  return node_.has_value();
}

// -- what waits for something to happen ----------------------------------------------------------

void websocket_session::await_end() {
  wake_.assign(::dup(host_.wake_fd));
  wake_.async_wait(file::wait_read, [this](const error_code& failed) {
    if (!failed)
      say_goodbye();
  });
}

void websocket_session::await_outgoing() {
  sending_ = sending::waiting;
  outgoing_ready_.async_wait(file::wait_read, [this](const error_code& failed) {
    if (!failed)
      send_events();
  });
}

/// Which events the network wants is known once the endpoint is a peer; before, they wait at the
/// server. An endpoint that does not come, since it is gone, does not keep them there for ever.
void websocket_session::await_network() {
  look_at_.expires_after(options_.timeout);
  look_at_.async_wait([this](const error_code& failed) {
    if (!failed && news_)
      begin_receiving();
  });
  news_ready_.async_wait(file::wait_read, [this](const error_code& failed) {
    if (failed || !news_)
      return;
    while (const auto event = news_->try_get())
      if (event->code() == status_code::peer_added)
        return begin_receiving();
    await_network();
  });
}

void websocket_session::begin_receiving() {
  news_ready_.close();
  news_.reset();
  await_look();
  open_.front().connection->receive();
}

void websocket_session::await_look() {
  const auto begin = clock::now();
  look();
  const auto end = clock::now();
  look_at_.expires_at(end + std::max<clock::duration>(tuning::interest_interval,
                                                      tuning::pause_per_look * (end - begin)));
  look_at_.async_wait([this](const error_code& failed) {
    if (!failed && !leaves_)
      await_look();
  });
}

// -- connections ---------------------------------------------------------------------------------

void websocket_session::begin(connection_step step) {
  if (step.what == connection_step::kind::open)
    return open(std::move(step.prefixes));
  if (step.what == connection_step::kind::none)
    return;
  // One after the other: what was published over the old ones is before the new one for the server
  // then, and does not come back over that.
  behind_those_ = std::move(step.prefixes);
  closing_ = std::exchange(open_, {});
  cut_at_ = clock::now() + options_.timeout;
  for (auto& each : closing_)
    each.connection->close();
}

void websocket_session::open(std::vector<std::string> prefixes) {
  const auto serial = next_serial_++;
  const auto number = open_.size();
  opening_ = {serial,
              std::make_unique<websocket_connection>(
                  place_, std::move(prefixes),
                  connection_events{
                      .opened = [this](const auto& ack) { opened(ack); },
                      .received = [this, number](auto text) { received(number, text); },
                      .room = [this] { go_on_sending(); },
                      .ended = [this, serial](std::string why) { ended(serial, std::move(why)); },
                  })};
}

void websocket_session::opened(const websocket_ack& ack) {
  plan_.opened();
  open_.push_back(std::move(*opening_));
  opening_.reset();
  if (node_) {
    open_.back().connection->receive();
    add(std::exchange(behind_those_, std::nullopt) ? counts_.replaced : counts_.extended);
    return go_on_sending();
  }
  if (const auto listening = open_node(ack); !listening)
    return over(listening.error().message());
  add(counts_.connections);
  host_.reached();
  outgoing_ready_.assign(::dup(outgoing_->fd()));
  await_outgoing();
  news_ready_.assign(::dup(news_->fd()));
  await_network();
}

void websocket_session::ended(std::size_t serial, std::string why) {
  if (std::erase_if(closing_, [&](const auto& each) { return each.serial == serial; }) == 0)
    return over(why);
  if (closing_.empty() && behind_those_)
    open(*behind_those_);
  else if (closing_.empty())
    loop_.stop(); // that was the goodbye
}

void websocket_session::over(const std::string& why) {
  host_.failed(options_.url + ": " + why);
  loop_.stop();
}

/// A look may be due already: it must not take those that are closing for connections that are
/// being replaced.
void websocket_session::say_goodbye() {
  leaves_ = true;
  behind_those_.reset();
  opening_.reset();
  for (auto& each : std::exchange(open_, {}))
    closing_.push_back(std::move(each));
  if (closing_.empty())
    return loop_.stop();
  outgoing_ready_.close();
  news_ready_.close();
  news_.reset();
  for (auto& each : closing_)
    each.connection->close();
  look_at_.expires_after(tuning::goodbye_timeout);
  look_at_.async_wait([this](const error_code& failed) {
    if (!failed)
      loop_.stop();
  });
}

// -- the side of the network ---------------------------------------------------------------------

/// Before the node is there, which is told what the network wants. Until the node of the session
/// before is gone from the network, that seems to want what the server is to get.
std::set<std::string> websocket_session::wanted_at_first() const {
  if (options_.topics)
    return named_in_cluster(*options_.topics);
  const auto still_there = [&] {
    return std::ranges::any_of(host_.network.peers(), [&](const peer_info& each) {
      return each.state == peer_state::peered && each.network &&
             each.network->address == host_.address;
    });
  };
  const auto deadline = clock::now() + tuning::goodbye_timeout;
  pollfd end{.fd = host_.wake_fd, .events = POLLIN, .revents = 0};
  while (still_there() && clock::now() < deadline && ::poll(&end, 1, 5) == 0) {
  }
  std::vector<std::string> topics;
  for (const auto& each : host_.network.filter())
    topics.emplace_back(each);
  return named_in_cluster(topics);
}

std::set<std::string> websocket_session::wanted() const {
  return options_.topics ? named_in_cluster(*options_.topics) : wanted_in_cluster(*node_, *names_);
}

/// By both names as long as the right ones are not known: the others match nothing there.
std::set<std::string>
websocket_session::named_in_cluster(const std::vector<std::string>& topics) const {
  std::set<std::string> result;
  for (const auto how : {topic_names::mapped, topic_names::as_they_are})
    if (names_.value_or(how) == how)
      for (const auto& each : topics)
        add_in_cluster(result, each, how);
  return result;
}

expected<void> websocket_session::open_node(const websocket_ack& ack) {
  if (!names_)
    names_ =
        ack.endpoint.starts_with(id_with_zeromq) ? topic_names::mapped : topic_names::as_they_are;
  // Members at the same server know each other by the names of their nodes.
  const auto server = ack.endpoint.substr(0, ack.endpoint.rfind(behind_server));
  const auto name = name_ + "@" + server;
  named_ = !server.empty() && server.size() < ack.endpoint.size() && is_node_name(name);
  if (named_)
    name_ = name;
  auto incoming = options_.incoming;
  if (incoming.policy == overflow_policy::drop_newest)
    incoming.policy = overflow_policy::block; // `hand_over` drops, after a while
  node_.emplace(options_of_node(name_, incoming));
  news_.emplace(node_->make_status_subscriber());
  const auto others = host_.network.nodes();
  if (std::ranges::none_of(others, [this](const auto& each) { return is_partner(each); }))
    partners_.forget(); // otherwise the first look tells
  outgoing_.emplace(node_->make_subscriber({}, outgoing_queue));
  pass_on(partners_.active());
  return listen_for_network(*node_, host_.address);
}

void websocket_session::pass_on(bool all) {
  const auto wanted = all ? std::set<std::string>(options_.send.begin(), options_.send.end())
                          : std::set<std::string>{};
  for_changes(
      passed_on_, wanted, [this](const auto& prefix) { outgoing_->add_topic(prefix); },
      [this](const auto& prefix) { outgoing_->remove_topic(prefix); });
  passed_on_ = wanted;
}

void websocket_session::look() {
  if (!closing_.empty() && clock::now() > cut_at_) {
    closing_.clear();
    open(*behind_those_);
  }
  partners_.find(*node_, [this](const auto& each) { return is_partner(each); });
  pass_on(partners_.active());
  if (!partners_.active())
    return;
  auto now = wanted();
  // A program makes its subscriptions one after the other; they are to share a connection.
  const bool settled = now == seen_ || ++unsettled_looks_ == tuning::max_unsettled_looks;
  seen_ = std::move(now);
  if (!settled)
    return;
  unsettled_looks_ = 0;
  begin(plan_.follow(seen_));
}

// -- events --------------------------------------------------------------------------------------

void websocket_session::received(std::size_t connection, std::string_view message) {
  if (message.starts_with(data_message_begin)) {
    if (read_event(message, event_))
      return publish(connection, event_);
    return add(counts_.malformed);
  }
  const auto other = read_server_message(message);
  if (!other)
    return add(counts_.malformed);
  if (const auto* const wrong = std::get_if<websocket_error>(&*other))
    complain(*wrong);
  else if (const auto* const event = std::get_if<websocket_event>(&*other))
    publish(connection, *event);
}

void websocket_session::publish(std::size_t connection, const websocket_event& event) {
  if (!partners_.active())
    return add(counts_.left_to_partner);
  if (plan_.owner(event.topic).value_or(connection) != connection)
    return add(counts_.repeated);
  count_published(counts_, hand_over(to_outside(event.topic, *names_), event.value.bytes()),
                  counts_.events_received);
}

/// Where the queue towards the endpoint is full, the server's events wait for a moment.
publish_result websocket_session::hand_over(const std::string& topic,
                                            std::span<const std::byte> event) {
  const auto at_once = node_->try_publish(topic, event);
  if (at_once != publish_result::would_block)
    return at_once;
  const auto begin = clock::now();
  const auto result = node_->publish_for(topic, event, patience_.left(begin));
  if (result == publish_result::would_block)
    patience_.wasted(clock::now() - begin);
  return result;
}

/// Of many, one a second is told.
void websocket_session::complain(const websocket_error& of) {
  add(counts_.errors);
  const auto now = clock::now();
  if (now - complained_at_ < tuning::pause_between_complaints)
    return;
  complained_at_ = now;
  constexpr std::size_t max_shown_bytes = 200;
  host_.failed(options_.url + ": the server says " +
               printable((of.code + ": " + of.context).substr(0, max_shown_bytes)));
}

void websocket_session::go_on_sending() {
  if (sending_ == sending::blocked)
    send_events();
}

void websocket_session::send_events() {
  sending_ = sending::under_way;
  if (next_in_batch_ == batch_.size()) {
    batch_.clear();
    next_in_batch_ = 0;
    if (outgoing_->get_batch_for(batch_, tuning::messages_a_turn, {}) != receive_status::received)
      return await_outgoing();
  }
  while (next_in_batch_ < batch_.size() && send_event(batch_[next_in_batch_]))
    ++next_in_batch_;
  for (auto& each : open_)
    each.connection->flush();
  if (next_in_batch_ < batch_.size())
    sending_ = sending::blocked;
  else
    asio::post(loop_, [this] { // others have their turn
      if (outgoing_ready_.is_open())
        send_events();
    });
}

bool websocket_session::send_event(const data_message& message) {
  if (!partners_.active() || partners_.have_published(message)) {
    add(counts_.left_to_partner);
    return true;
  }
  if (open_.empty())
    return false;
  const auto topic = to_cluster(get_topic(message), *names_);
  auto& to = *open_[plan_.publishing(topic)].connection;
  if (to.waiting_bytes() >= tuning::max_waiting_bytes)
    return false;
  encoded_.clear();
  if (is_reserved_topic(topic) ||
      !append_event(encoded_, topic, get_view(message), json_strings::bytes)) {
    add(counts_.not_events);
    return true;
  }
  escape_nuls(encoded_);
  to.send(encoded_);
  if (to.waiting_bytes() >= tuning::flush_bytes)
    to.flush();
  return true;
}

} // namespace pubsub::cluster
