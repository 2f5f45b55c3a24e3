// The sockets of a proxy, and what goes on between them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <pubsub/cluster/zeromq_proxy.hpp>

#include "cluster/curve_admission.hpp"
#include "cluster/proxy/proxy_readers.hpp"
#include "cluster/zeromq_kit.hpp"

#include <zmq.hpp>

namespace pubsub::cluster {

/// Bound to both addresses as long as it exists. Throws zmq::error_t. Not thread-safe.
///
/// With XPUB_NODROP libzmq refuses a message as long as the queue of any reader that is to get it
/// is full, and without it passes those readers over, until they have taken half of their queue. So
/// the bus has it on, waits for room as long as readers deserve it, and turns it off for one
/// message then: from there on, the readers that were full hold up no publisher.
class proxy_bus {
public:
  /// It is to end once `wake_fd` is readable.
  proxy_bus(const zeromq_proxy_options& options, int wake_fd);

  std::string xsub_address() const { return from_nodes_.get(zmq::sockopt::last_endpoint); }
  std::string xpub_address() const { return to_nodes_.get(zmq::sockopt::last_endpoint); }

  /// Waits until something is to be done, and does some of it. False once it is to end.
  bool turn();
  zeromq_proxy_counters counters() const;

private:
  using clock = std::chrono::steady_clock;

  bool wait();
  bool is_to_end() const;
  void set_up(zmq::socket_t& socket, const std::string& address);
  void read_events();
  void pass_subscriptions_on();
  void note(zmq::message_t& frame, const subscription& what);
  void pass_messages_on();
  void pass_rest_on(bool more);
  /// Sends the first frame of a message, behind which the others find room.
  void send_first(zmq::message_t& frame);
  bool wait_for_room(zmq::message_t& frame, zmq::send_flags flags, clock::time_point begin);

  const int wake_fd_;
  zmq::context_t context_;
  std::optional<curve_admission> admission_;
  zmq::socket_t from_nodes_; // XSUB
  zmq::socket_t to_nodes_;   // XPUB
  socket_monitor publisher_events_;
  socket_monitor reader_events_;
  proxy_readers readers_;
  bool drops_ = false; // XPUB_NODROP is off until the end of this message
  clock::time_point look_again_{};
  zmq::message_t frame_;
  zeromq_proxy_counters counts_; // without what `readers_` has
};

} // namespace pubsub::cluster
