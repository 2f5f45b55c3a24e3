// One time that the server of a cluster is reached, over one connection or several.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/websocket_options.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/endpoint.hpp>

#include "cluster/client/connection_plan.hpp"
#include "cluster/client/websocket_connection.hpp"
#include "cluster/membership.hpp"
#include "cluster/network_side.hpp"
#include "cluster/patience.hpp"
#include "cluster/shared_counters.hpp"
#include "cluster/tuning.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

namespace pubsub::cluster {

/// The cluster as a node of the endpoint's network. All of it runs on the loop, in `run`. Not
/// thread-safe.
class websocket_session final : public session {
public:
  /// Throws where the files for TLS cannot be used any more.
  websocket_session(const websocket_options& options, session_host& host,
                    shared_counters<websocket_counters>& counts);
  ~websocket_session() override;

  endpoint_id node_id() const override { return node_ ? node_->id() : endpoint_id{}; }
  bool run() override;

private:
  using clock = std::chrono::steady_clock;
  using file = asio::posix::basic_stream_descriptor<executor>;

  // What waits for something to happen.
  void await_end();
  void await_outgoing();
  void await_network();
  void begin_receiving();
  void await_look();

  // Connections.
  void begin(connection_step step);
  void open(std::vector<std::string> prefixes);
  void opened(const websocket_ack& ack);
  void ended(std::size_t serial, std::string why);
  void over(const std::string& why);
  void say_goodbye();

  // The side of the network.
  std::set<std::string> wanted_at_first() const;
  std::set<std::string> wanted() const;
  std::set<std::string> named_in_cluster(const std::vector<std::string>& topics) const;
  expected<void> open_node(const websocket_ack& ack);
  bool is_partner(const node_info& x) const { return named_ && x.name == name_; }
  void pass_on(bool all);
  void look();

  // Events.
  void received(std::size_t connection, std::string_view message);
  void publish(std::size_t connection, const websocket_event& event);
  publish_result hand_over(const std::string& topic, std::span<const std::byte> event);
  void complain(const websocket_error& of);
  void go_on_sending();
  void send_events();
  /// False if its connection has no room.
  bool send_event(const data_message& message);

  struct numbered_connection {
    std::size_t serial;
    std::unique_ptr<websocket_connection> connection;
  };

  const websocket_options& options_;
  session_host& host_;
  shared_counters<websocket_counters>& counts_;

  asio::io_context loop_{1};
  std::optional<asio::ssl::context> tls_;
  const websocket_place place_;
  file wake_;
  file outgoing_ready_;
  file news_ready_;
  timer look_at_;

  connection_plan plan_;
  std::size_t next_serial_ = 0;
  std::vector<numbered_connection> open_; // by their numbers in the plan
  std::optional<numbered_connection> opening_;
  std::vector<numbered_connection> closing_;
  std::optional<std::vector<std::string>> behind_those_; // prefixes of the one that replaces them
  clock::time_point cut_at_{};                           // those that are still closing

  bool leaves_ = false;              // the session was told to end
  std::optional<topic_names> names_; // not known before the server has answered
  std::string name_ = "zeek-cluster";
  bool named_ = false; // the name tells which server it is
  std::optional<endpoint> node_;
  std::optional<status_subscriber> news_; // until the endpoint is a peer of the node
  std::optional<subscriber> outgoing_;
  patience patience_{tuning::time_for_room, clock::now()}; // with the endpoint
  partners partners_;
  std::set<std::string> passed_on_; // subscribed by `outgoing_`
  std::set<std::string> seen_;      // wanted at the last look
  std::size_t unsettled_looks_ = 0; // since that was the same twice

  enum class sending { waiting, under_way, blocked };
  sending sending_ = sending::waiting;
  std::vector<data_message> batch_; // taken from `outgoing_`
  std::size_t next_in_batch_ = 0;

  websocket_event event_; // their memory is used again
  std::string encoded_;
  clock::time_point complained_at_{};
};

} // namespace pubsub::cluster
