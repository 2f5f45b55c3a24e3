// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/zeromq_kit.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace pubsub::cluster {

namespace {

constexpr int refusals = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                         ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

} // namespace

error error_of_address(const zmq::error_t& failed, const std::string& addresses) {
  const auto code = failed.num() == EADDRINUSE ? errc::address_in_use
                    : failed.num() == EADDRNOTAVAIL || failed.num() == EACCES
                        ? errc::cannot_listen
                        : errc::invalid_argument;
  return {code, addresses + ": " + failed.what()};
}

bool send_frames(zmq::socket_t& to, std::span<const std::string_view> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    auto flags = zmq::send_flags::dontwait;
    if (i + 1 < frames.size())
      flags = flags | zmq::send_flags::sndmore;
    if (!to.send(zmq::buffer(frames[i]), flags))
      return false; // the first frame: with it the way is free for the others
  }
  return true;
}

bool frames::receive(zmq::socket_t& from) {
  texts_.clear();
  std::size_t n = 0;
  do {
    if (n == parts_.size())
      parts_.emplace_back();
    // Once the first frame of a message is there, so are all others.
    if (!from.recv(parts_[n], n == 0 ? zmq::recv_flags::dontwait : zmq::recv_flags::none))
      return false;
  } while (parts_[n++].more());
  parts_.resize(n); // no frame of an older message stays
  for (const auto& part : parts_)
    texts_.push_back(part.to_string_view());
  return true;
}

socket_monitor::socket_monitor(zmq::context_t& context, zmq::socket_t& watched,
                               const std::string& name)
    : watched_(watched), events_(context, zmq::socket_type::pair) {
  const auto address = "inproc://" + name;
  if (zmq_socket_monitor(watched.handle(), address.c_str(),
                         ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                             ZMQ_EVENT_DISCONNECTED | refusals) != 0)
    throw zmq::error_t{};
  events_.set(zmq::sockopt::linger, 0);
  events_.connect(address);
}

socket_monitor::~socket_monitor() {
  zmq_socket_monitor(watched_.handle(), nullptr, 0);
}

std::optional<socket_event> socket_monitor::next() {
  while (frames_.receive(events_)) {
    std::uint16_t event = 0; // both numbers in the byte order of the host
    std::int32_t value = 0;
    const auto head = frames_.texts().front();
    if (head.size() < sizeof event + sizeof value)
      continue;
    std::memcpy(&event, head.data(), sizeof event);
    std::memcpy(&value, head.data() + sizeof event, sizeof value);
    if (event == ZMQ_EVENT_ACCEPTED)
      return socket_event{connection_state::accepted, value};
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
      return socket_event{connection_state::connected};
    if (event == ZMQ_EVENT_DISCONNECTED)
      return socket_event{connection_state::lost, value};
    if ((event & refusals) != 0)
      return socket_event{connection_state::refused};
  }
  return {};
}

} // namespace pubsub::cluster
