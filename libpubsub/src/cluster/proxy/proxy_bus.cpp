// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/proxy/proxy_bus.hpp"

#include "cluster/event_frames.hpp"
#include "cluster/tuning.hpp"

#include <array>

#include <poll.h>

namespace pubsub::cluster {

namespace {

zmq::context_t context_with_threads() {
  zmq::context_t result;
  result.set(zmq::ctxopt::io_threads, tuning::proxy_io_threads);
  return result;
}

} // namespace

proxy_bus::proxy_bus(const zeromq_proxy_options& options, int wake_fd)
    : wake_fd_(wake_fd), context_(context_with_threads()),
      from_nodes_(context_, zmq::socket_type::xsub), to_nodes_(context_, zmq::socket_type::xpub),
      publisher_events_(context_, from_nodes_, "publishers"),
      reader_events_(context_, to_nodes_, "readers"), readers_(options.patience) {
  namespace option = zmq::sockopt;
  if (options.curve)
    admission_.emplace(context_, *options.curve, options.more_clients);
  to_nodes_.set(option::xpub_verboser, true); // nodes wait for each subscription, also a known one
  to_nodes_.set(option::xpub_nodrop, true);
  to_nodes_.set(option::sndtimeo, static_cast<int>(tuning::wait_for_readers.count()));
  to_nodes_.set(option::sndhwm, static_cast<int>(options.reader_queue_messages));
  from_nodes_.set(option::rcvhwm, tuning::publisher_high_water_mark);
  from_nodes_.set(option::sndhwm, tuning::subscription_high_water_mark);
  set_up(to_nodes_, options.listen_xpub);
  set_up(from_nodes_, options.listen_xsub);
}

void proxy_bus::set_up(zmq::socket_t& socket, const std::string& address) {
  namespace option = zmq::sockopt;
  socket.set(option::linger, 0);
  socket.set(option::ipv6, address.find('[') != std::string::npos);
  socket.set(option::maxmsgsize, static_cast<std::int64_t>(tuning::max_frame_bytes));
  socket.set(option::tcp_keepalive, 1);
  socket.set(option::tcp_keepalive_idle, tuning::keepalive_idle_s);
  socket.set(option::tcp_keepalive_intvl, tuning::keepalive_interval_s);
  socket.set(option::tcp_keepalive_cnt, tuning::keepalive_probes);
  if (admission_)
    admission_->serve(socket);
  socket.bind(address);
}

bool proxy_bus::turn() {
  if (!wait())
    return false;
  if (admission_)
    admission_->answer();
  read_events();
  pass_subscriptions_on();
  pass_messages_on();
  if (const auto now = clock::now(); readers_.slow() > 0 && now >= look_again_) {
    readers_.look_again();
    look_again_ = now + tuning::slow_reader_interval;
  }
  return true;
}

bool proxy_bus::wait() {
  std::array<zmq::pollitem_t, 6> items{};
  std::size_t n = 0;
  items[n++] = {nullptr, wake_fd_, ZMQ_POLLIN, 0};
  for (auto* const socket :
       {&from_nodes_, &to_nodes_, &publisher_events_.socket(), &reader_events_.socket()})
    items[n++] = {socket->handle(), 0, ZMQ_POLLIN, 0};
  if (admission_)
    items[n++] = {admission_->socket().handle(), 0, ZMQ_POLLIN, 0};
  zmq::poll(items.data(), n,
            readers_.slow() > 0 ? tuning::slow_reader_interval : std::chrono::milliseconds{-1});
  return (items[0].revents & ZMQ_POLLIN) == 0;
}

void proxy_bus::read_events() {
  while (const auto event = reader_events_.next())
    if (event->state == connection_state::accepted)
      readers_.connected(event->fd, clock::now());
    else if (event->state == connection_state::lost)
      readers_.lost(event->fd);
    else if (event->state == connection_state::refused)
      ++counts_.refused;
  while (const auto event = publisher_events_.next())
    if (event->state == connection_state::accepted)
      ++counts_.publishers;
    else if (event->state == connection_state::lost)
      --counts_.publishers;
    else if (event->state == connection_state::refused)
      ++counts_.refused;
}

void proxy_bus::pass_subscriptions_on() {
  for (std::size_t n = 0; n < tuning::messages_a_turn; ++n) {
    if (!to_nodes_.recv(frame_, zmq::recv_flags::dontwait))
      return;
    const auto what = read_subscription(frame_.to_string_view());
    if (what && !frame_.more()) {
      note(frame_, *what);
      from_nodes_.send(frame_, zmq::send_flags::none);
      ++counts_.subscription_changes;
      continue;
    }
    ++counts_.malformed;
    while (frame_.more())
      if (!to_nodes_.recv(frame_))
        return;
  }
}

/// The subscriptions of a connection that is lost end without saying whose they were.
void proxy_bus::note(zmq::message_t& frame, const subscription& what) {
  const int fd = zmq_msg_get(frame.handle(), ZMQ_SRCFD);
  if (fd < 0)
    return;
  read_events(); // mostly it was said before that the connection was accepted
  readers_.note(fd, what, clock::now());
}

void proxy_bus::pass_messages_on() {
  for (std::size_t n = 0; n < tuning::messages_a_turn; ++n) {
    if (!from_nodes_.recv(frame_, zmq::recv_flags::dontwait))
      return;
    const bool more = frame_.more();
    counts_.bytes += frame_.size();
    send_first(frame_);
    pass_rest_on(more);
    ++counts_.messages;
    if (drops_) {
      to_nodes_.set(zmq::sockopt::xpub_nodrop, true);
      drops_ = false;
    }
  }
}

void proxy_bus::pass_rest_on(bool more) {
  std::size_t frames = 1;
  for (; more; ++frames) {
    if (!from_nodes_.recv(frame_))
      return;
    more = frame_.more();
    counts_.bytes += frame_.size();
    to_nodes_.send(frame_, more ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  counts_.foreign += frames == frames_of_event ? 0 : 1;
}

void proxy_bus::send_first(zmq::message_t& frame) {
  const auto flags = frame.more() ? zmq::send_flags::sndmore : zmq::send_flags::none;
  if (readers_.slow() > 0)
    readers_.count_dropped(frame.to_string_view());
  if (to_nodes_.send(frame, flags | zmq::send_flags::dontwait))
    return;
  const auto begin = clock::now();
  const bool sent = wait_for_room(frame, flags, begin);
  const auto end = clock::now();
  counts_.held_up += end - begin;
  if (sent)
    return;
  if (!is_to_end())
    readers_.end_waiting(end);
  to_nodes_.set(zmq::sockopt::xpub_nodrop, false);
  drops_ = true;
  to_nodes_.send(frame, flags);
}

bool proxy_bus::is_to_end() const {
  pollfd item{.fd = wake_fd_, .events = POLLIN, .revents = 0};
  return ::poll(&item, 1, 0) > 0;
}

/// False if there is none in time: then nothing of the message was sent. Clients can connect
/// meanwhile, for a reader that is slow and reads may hold the others up for long.
bool proxy_bus::wait_for_room(zmq::message_t& frame, zmq::send_flags flags,
                              clock::time_point begin) {
  readers_.begin_waiting(frame.to_string_view(), begin);
  while (readers_.deserve_more(clock::now()) && !is_to_end()) {
    if (to_nodes_.send(frame, flags)) // waits for a moment
      return true;
    if (admission_)
      admission_->answer();
  }
  return false;
}

zeromq_proxy_counters proxy_bus::counters() const {
  auto result = counts_;
  result.times_slow = readers_.times_slow();
  result.dropped = readers_.dropped();
  result.readers = readers_.size();
  result.slow_readers = readers_.slow();
  result.subscriptions = readers_.subscriptions();
  return result;
}

} // namespace pubsub::cluster
