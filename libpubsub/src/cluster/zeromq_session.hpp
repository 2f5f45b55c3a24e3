// One connection of a member to the proxy of its cluster, from the first attempt to the loss.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/zeromq_member.hpp>
#include <pubsub/cluster/zeromq_options.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/endpoint.hpp>

#include "cluster/event_frames.hpp"
#include "cluster/interests.hpp"
#include "cluster/log_feed.hpp"
#include "cluster/log_sender.hpp"
#include "cluster/membership.hpp"
#include "cluster/network_side.hpp"
#include "cluster/shared_counters.hpp"
#include "cluster/zeromq_sockets.hpp"

namespace pubsub::cluster {

/// The cluster as a node of the endpoint's network: an endpoint of its own, which does not hear
/// what it says itself, and whose subscriptions can be told from those of the others. Throws
/// zmq::error_t where libzmq cannot go on. Not thread-safe.
class zeromq_session final : public session {
public:
  zeromq_session(const zeromq_options& options, session_host& host,
                 shared_counters<zeromq_counters>& counts);
  /// Parts from the endpoint, and counts what the cluster did not get.
  ~zeromq_session() override;

  endpoint_id node_id() const override { return node_.id(); }
  bool run() override;

private:
  using clock = std::chrono::steady_clock;

  bool find_proxy();
  expected<void> open_node();
  void serve();

  /// Waits for any socket, at most `timeout`. False if the session is over: the connection is gone,
  /// or it was woken.
  bool wait(std::chrono::milliseconds timeout, bool for_outgoing);
  bool connection_holds();
  /// True if what others in the cluster subscribe to is not the same any more.
  bool read_subscriptions();
  void follow_cluster();
  void follow_endpoint();
  void read_events();
  void read_event();
  void read_logs();
  /// False if libzmq has no room for more.
  bool send_events();
  bool send_all_events();
  void send_rest();
  bool send_event(const data_message& message);
  void send_logs();
  void take_records(clock::time_point now);
  void send_last_logs();
  void find_partners();

  const zeromq_options& options_;
  session_host& host_;
  shared_counters<zeromq_counters>& counts_;

  endpoint node_;
  const std::string id_; // of this member in the cluster
  std::optional<subscriber> outgoing_;
  std::vector<data_message> batch_; // taken from `outgoing_`
  std::size_t next_in_batch_ = 0;

  zeromq_sockets sockets_;
  interests interests_;
  std::set<std::string> subscribed_; // in the cluster, for others on the side of the endpoint
  std::set<std::string> passed_on_;  // subscribed by `outgoing_`, for others in the cluster

  std::set<std::string> others_here_; // other members of this cluster, by their ids in it
  partners partners_;                 // of those, the ones in our own network
  std::set<std::string, std::less<>> ids_of_partners_;

  bool leaves_ = false; // the session was told to end
  log_feed logs_;
  const std::string topic_of_records_; // and what it is a prefix of
  log_sender log_sender_;
  std::optional<subscriber> records_; // of the network, for loggers
  std::vector<data_message> record_batch_;
  std::uint64_t records_dropped_ = 0; // by `records_`, and counted
  frames frames_;
  std::vector<std::byte> decoded_;
  std::string encoded_;
};

} // namespace pubsub::cluster
