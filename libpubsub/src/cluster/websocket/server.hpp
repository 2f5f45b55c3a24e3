// Accepts WebSocket clients, and runs the threads that serve them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/cluster/websocket_server.hpp>

#include "cluster/private_folder.hpp"
#include "cluster/shared_counters.hpp"
#include "cluster/websocket/admission.hpp"
#include "cluster/websocket/beast.hpp"
#include "cluster/websocket/client.hpp"
#include "cluster/websocket_url.hpp"
#include "transport/tls/tls_context.hpp"

namespace pubsub::cluster {

/// Thread-safety: as of websocket_server.
class server final : public client_host {
public:
  server(std::shared_ptr<endpoint> ep, websocket_server_options options, websocket_url where,
         private_folder folder);
  ~server() override;

  expected<void> start();
  /// With the port that it has got.
  const websocket_url& address() const noexcept { return where_; }
  websocket_server_counters counters() const;
  void set_access(std::optional<access_rules> rules);
  expected<void> set_tls(const tls_options& options);

  const websocket_server_options& options() const noexcept override { return options_; }
  shared_counters<websocket_server_counters>& counts() noexcept override { return counts_; }
  std::optional<http_refusal> admit(const client& who, const peer_identity& identity,
                                    access_ptr& rule) override {
    return admission_.admit(who, identity, rule);
  }
  bool still_holds(const peer_identity& identity, const access_ptr& rule) override {
    return admission_.still_holds(identity, rule);
  }
  websocket_ack ack() override;
  void make_node(std::shared_ptr<client> who, client_node_options how) override;
  void destroy_node(std::unique_ptr<client_node> node) override;
  void forget(const client& who) override;

private:
  using loop_socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;

  error_code bind_to(const tcp::endpoint& local, bool any_host);
  expected<void> listen();
  void accept();
  void serve(asio::io_context& loop, loop_socket socket);
  template <class Action>
  void for_clients(Action action);
  void run(asio::io_context& loop, const char* name);

  const std::shared_ptr<endpoint> ep_;
  const websocket_server_options options_;
  websocket_url where_;
  const private_folder folder_;
  shared_counters<websocket_server_counters> counts_;
  admission admission_;
  std::atomic<std::uint64_t> nodes_{0};   // made so far
  std::atomic<std::uint64_t> clients_{0}; // acknowledged so far

  std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  std::set<std::shared_ptr<client>> connections_;
  tls_context tls_; // of new connections

  // Those of clients, the first of which accepts; and the one on which nodes come and go.
  std::vector<std::unique_ptr<asio::io_context>> loops_;
  asio::io_context apart_{1};
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> retry_;
  std::size_t next_loop_ = 0;
  std::vector<std::thread> threads_;
};

} // namespace pubsub::cluster
