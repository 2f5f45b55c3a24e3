// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/zeromq_session.hpp"

#include "base/log.hpp"
#include "cluster/topic_names.hpp"
#include "cluster/tuning.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <pubsub/zeek/log.hpp>

namespace pubsub::cluster {

namespace {

constexpr std::string_view id_prefix = "libpubsub_";
// A member subscribes to the topic of its id here as long as it is there, so that others know it.
constexpr std::string_view topics_of_members = "libpubsub.members.";

} // namespace

zeromq_session::zeromq_session(const zeromq_options& options, session_host& host,
                               shared_counters<zeromq_counters>& counts)
    : options_(options), host_(host), counts_(counts),
      node_(options_of_node("zeek-cluster", options.incoming)),
      id_(std::string{id_prefix} + to_string(node_.id())), sockets_(options), logs_(counts),
      topic_of_records_(zeek::log_topic({})), log_sender_(options, counts) {}

zeromq_session::~zeromq_session() {
  node_.close();
  if (records_)
    send_last_logs();
  if (outgoing_)
    add(counts_.unsent, batch_.size() - next_in_batch_ + outgoing_->counters().queued +
                            outgoing_->counters().dropped());
}

bool zeromq_session::run() {
  if (!find_proxy())
    return false;
  if (const auto opened = open_node(); !opened) {
    host_.failed(opened.error().message());
    return false;
  }
  add(counts_.connections);
  host_.reached();
  serve();
  return true;
}

/// Once a subscription of our own comes back, both connections work, and the proxy has told before
/// what others subscribe to.
bool zeromq_session::find_proxy() {
  const auto own_topic = std::string{topics_of_members} + id_;
  sockets_.subscribing().set(zmq::sockopt::subscribe, own_topic);
  const auto deadline = clock::now() + options_.timeout;
  for (bool found = false, told = false; !found;) {
    if (!wait(tuning::interest_interval, false))
      return false;
    while (!found && frames_.receive(sockets_.publishing())) {
      const auto what = read_subscription(frames_.texts().front());
      found = what && what->added && what->prefix == own_topic;
      if (what && !found)
        interests_.note(*what);
    }
    if (!found && !told && clock::now() > deadline) {
      host_.failed("no answer from the proxy of the cluster at " + options_.publish_to + " and " +
                   options_.subscribe_at);
      told = true;
    }
  }
  return true;
}

expected<void> zeromq_session::open_node() {
  outgoing_.emplace(node_.make_subscriber({}, outgoing_queue));
  if (sockets_.loggers() != nullptr)
    records_.emplace(node_.make_subscriber({topic_of_records_}, options_.log_queue));
  follow_cluster();
  return listen_for_network(node_, host_.address);
}

void zeromq_session::serve() {
  auto look_at = clock::now();
  bool room = true;
  while (true) {
    const auto until_look = std::chrono::ceil<std::chrono::milliseconds>(look_at - clock::now());
    const auto timeout = std::max(std::chrono::milliseconds{0},
                                  room ? until_look : std::min(until_look, tuning::retry_interval));
    if (!wait(timeout, room))
      return leaves_ ? send_rest() : void();
    if (read_subscriptions())
      follow_cluster();
    read_events();
    read_logs();
    send_logs();
    room = send_events();
    if (const auto begin = clock::now(); begin >= look_at) {
      follow_endpoint();
      const auto end = clock::now();
      look_at = end + std::max<clock::duration>(tuning::interest_interval,
                                                tuning::pause_per_look * (end - begin));
    }
  }
}

bool zeromq_session::wait(std::chrono::milliseconds timeout, bool for_outgoing) {
  std::array<zmq::pollitem_t, 10> items{};
  std::size_t n = 0;
  const auto add_socket = [&](zmq::socket_t& socket) {
    items[n++] = {socket.handle(), 0, ZMQ_POLLIN, 0};
  };
  const auto add_file = [&](int fd) { items[n++] = {nullptr, fd, ZMQ_POLLIN, 0}; };
  add_file(host_.wake_fd);
  add_socket(sockets_.publishing());
  add_socket(sockets_.subscribing());
  add_socket(sockets_.publishing_events().socket());
  add_socket(sockets_.subscribing_events().socket());
  if (auto* logs = sockets_.logs())
    add_socket(*logs);
  auto* const senders = sockets_.senders_of_logs();
  if (senders != nullptr)
    add_socket(senders->socket());
  if (for_outgoing && outgoing_)
    add_file(outgoing_->fd());
  if (records_ && log_sender_.has_room())
    add_file(records_->fd());
  if (log_sender_.is_ready())
    items[n++] = {sockets_.loggers()->handle(), 0, ZMQ_POLLOUT, 0};
  zmq::poll(items.data(), n, timeout);
  if (senders != nullptr)
    senders->answer();
  leaves_ = (items[0].revents & ZMQ_POLLIN) != 0;
  return !leaves_ && connection_holds();
}

bool zeromq_session::connection_holds() {
  for (auto* events : {&sockets_.publishing_events(), &sockets_.subscribing_events()})
    while (const auto event = events->next()) {
      if (event->state == connection_state::connected)
        continue;
      const auto& address =
          events == &sockets_.publishing_events() ? options_.publish_to : options_.subscribe_at;
      host_.failed(
          event->state == connection_state::lost
              ? "the connection to " + address + " was lost"
              : "what listens at " + address +
                    " does not accept the connection: only one side encrypts, the keys are "
                    "others, or the ports of xpub and xsub are exchanged");
      return false;
    }
  return true;
}

bool zeromq_session::read_subscriptions() {
  bool changed = false;
  for (std::size_t n = 0; n < tuning::messages_a_turn; ++n) {
    if (!frames_.receive(sockets_.publishing()))
      break;
    if (const auto what = read_subscription(frames_.texts().front()))
      changed |= interests_.note(*what);
  }
  return changed;
}

void zeromq_session::follow_cluster() {
  std::set<std::string> wanted;
  others_here_.clear();
  for (const auto& prefix : interests_.of_others())
    if (prefix.starts_with(topics_of_members))
      others_here_.insert(prefix.substr(topics_of_members.size()));
    else
      for (auto& each : prefixes_outside(prefix, options_.topics))
        wanted.insert(std::move(each));
  for_changes(
      passed_on_, wanted, [this](const auto& prefix) { outgoing_->add_topic(prefix); },
      [this](const auto& prefix) { outgoing_->remove_topic(prefix); });
  passed_on_ = std::move(wanted);
}

void zeromq_session::follow_endpoint() {
  find_partners();
  auto wanted = wanted_in_cluster(node_, options_.topics);
  if (wanted == subscribed_)
    return;
  for_changes(
      subscribed_, wanted,
      [this](const auto& prefix) {
        interests_.expect_own(prefix, true);
        sockets_.subscribing().set(zmq::sockopt::subscribe, prefix);
      },
      [this](const auto& prefix) {
        interests_.expect_own(prefix, false);
        sockets_.subscribing().set(zmq::sockopt::unsubscribe, prefix);
      });
  subscribed_ = std::move(wanted);
}

/// What a partner sends while it does not know that another does the work is ignored, or it would
/// go in circles.
void zeromq_session::find_partners() {
  const auto id_of = [](const endpoint_id& node) {
    return std::string{id_prefix} + to_string(node);
  };
  if (others_here_.empty())
    partners_.forget();
  else
    partners_.find(node_, [&](const node_info& x) { return others_here_.contains(id_of(x.id)); });
  ids_of_partners_.clear();
  for (const auto& each : partners_.nodes())
    ids_of_partners_.insert(id_of(each));
}

void zeromq_session::read_events() {
  for (std::size_t n = 0; n < tuning::messages_a_turn; ++n) {
    if (!frames_.receive(sockets_.subscribing()))
      return;
    read_event();
  }
}

void zeromq_session::read_event() {
  const auto message = split_event(frames_.texts());
  if (!message)
    return add(counts_.malformed);
  if (message->sender == id_ || ids_of_partners_.contains(message->sender))
    return add(counts_.own);
  if (!partners_.active())
    return add(counts_.left_to_partner);
  const auto bytes = decode_event(*message, decoded_);
  if (!bytes)
    return add(counts_.malformed);
  count_published(counts_, node_.try_publish(to_outside(message->topic, options_.topics), *bytes),
                  counts_.events_received);
}

void zeromq_session::read_logs() {
  if (auto* socket = sockets_.logs())
    for (std::size_t n = 0; n < tuning::messages_a_turn; ++n) {
      if (!frames_.receive(*socket))
        return;
      logs_.publish(frames_.texts(), node_);
    }
}

/// While loggers take nothing, records wait in the queue, which drops.
void zeromq_session::send_logs() {
  if (!records_)
    return;
  const auto now = clock::now();
  if (log_sender_.has_room() && records_->get_batch_for(record_batch_, tuning::messages_a_turn,
                                                        {}) == receive_status::received)
    take_records(now);
  log_sender_.end_old_batches(now);
  log_sender_.send(*sockets_.loggers(), id_);
  const auto dropped = records_->counters().dropped();
  add(counts_.log_records_unsent, dropped - records_dropped_);
  records_dropped_ = dropped;
}

void zeromq_session::take_records(clock::time_point now) {
  for (const auto& each : record_batch_)
    if (!partners_.active() || partners_.have_published(each))
      add(counts_.left_to_partner);
    else
      log_sender_.take(each, now);
  record_batch_.clear();
}

void zeromq_session::send_last_logs() {
  while (records_->get_batch_for(record_batch_, tuning::messages_a_turn, {}) ==
         receive_status::received)
    take_records(clock::now());
  log_sender_.end_all_batches();
  log_sender_.send(*sockets_.loggers(), id_);
  add(counts_.log_records_unsent,
      log_sender_.waiting() + records_->counters().dropped() - records_dropped_);
}

bool zeromq_session::send_events() {
  if (next_in_batch_ == batch_.size()) {
    batch_.clear();
    next_in_batch_ = 0;
    if (outgoing_->get_batch_for(batch_, tuning::messages_a_turn, {}) != receive_status::received)
      return true;
  }
  for (; next_in_batch_ < batch_.size(); ++next_in_batch_)
    if (!send_event(batch_[next_in_batch_]))
      return false;
  return true;
}

/// Those of the endpoint, which has parted. False if libzmq has no room for all.
bool zeromq_session::send_all_events() {
  while (send_events())
    if (outgoing_->available() == 0)
      return true;
  return false;
}

/// The endpoint has parted, and all that it had for the cluster is here. A connection that ends
/// takes along what the proxy has not read yet, so the last message goes to this member itself: it
/// comes back once the proxy has taken those before it.
void zeromq_session::send_rest() {
  const auto own_topic = std::string{topics_of_members} + id_;
  const std::array<std::string_view, frames_of_event> last{
      own_topic, id_, name_of(options_.serializer), {}};
  const auto deadline = clock::now() + tuning::time_to_send_rest;
  bool sent = false;
  while (true) {
    sent = sent || (send_all_events() && send_frames(sockets_.publishing(), last));
    while (frames_.receive(sockets_.subscribing()))
      if (frames_.texts().front() == own_topic)
        return;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    if (left <= std::chrono::milliseconds{0})
      return;
    zmq::pollitem_t back{sockets_.subscribing().handle(), 0, ZMQ_POLLIN, 0};
    zmq::poll(&back, 1, sent ? left : std::min(left, tuning::retry_interval));
  }
}

bool zeromq_session::send_event(const data_message& message) {
  if (!partners_.active() || partners_.have_published(message)) {
    add(counts_.left_to_partner);
    return true;
  }
  if (records_ && get_topic(message).starts_with(topic_of_records_))
    return true; // nodes that read logs and events get a record once
  const auto topic = to_cluster(get_topic(message), options_.topics);
  const auto payload = encode_event(get_view(message), options_.serializer, encoded_);
  if (!payload || topic.find('\0') != std::string::npos) { // which no cluster's topic has
    add(counts_.not_events);
    return true;
  }
  const std::array<std::string_view, frames_of_event> event{topic, id_,
                                                            name_of(options_.serializer), *payload};
  if (!send_frames(sockets_.publishing(), event))
    return false;
  add(counts_.events_sent);
  return true;
}

} // namespace pubsub::cluster
