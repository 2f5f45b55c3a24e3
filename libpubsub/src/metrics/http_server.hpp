// Accepts connections, a bounded number, and sends events to those that watch.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <pubsub/metrics/metrics_server.hpp>

#include "metrics/answers.hpp"
#include "metrics/beast.hpp"
#include "metrics/http_connection.hpp"

namespace pubsub {

/// Thread-safety: `listen` before the loop runs, everything else on its one thread.
class http_server final : public http_host {
public:
  http_server(asio::io_context& loop, std::shared_ptr<const endpoint> ep,
              const metrics_options& options)
      : endpoint_(ep), acceptor_(loop), retry_(loop), tick_(loop),
        answers_(std::move(ep), options.readiness, options.more_metrics), options_(options) {}
  ~http_server() override { to_ask_.stop(); }

  /// Errors: as `metrics_server::start`.
  expected<void> listen(std::string_view address);
  std::uint16_t port() const noexcept { return port_; }

  std::optional<answer> find(std::string_view path) override { return answers_.find(path); }
  bool is_our_name(std::string_view host) const override;
  bool ask(const endpoint_id& node, const std::shared_ptr<http_connection>& who) override;
  bool watch(const std::shared_ptr<http_connection>& who) override;
  void forget(const std::shared_ptr<http_connection>& who) override;

private:
  using connection = std::shared_ptr<http_connection>;

  error_code bind_to(const tcp::endpoint& local, bool any_host);
  void accept();
  void add(tcp::socket socket);
  void start_ticking();
  void on_tick();
  void cut_late();
  void send_events();

  const std::shared_ptr<const endpoint> endpoint_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_; // of accepting
  asio::steady_timer tick_;  // runs while there are connections
  answers answers_;
  const metrics_options options_;
  std::uint16_t port_ = 0;
  bool loopback_ = false;
  bool ticking_ = false;
  std::set<connection> connections_;
  std::set<connection> watchers_; // of those
  std::set<connection> fresh_;    // of the watchers, those that were sent nothing so far
  shared_text last_network_;
  std::size_t asking_ = 0;  // how many wait for other nodes
  asio::io_context to_ask_; // which takes time: by threads of its own, from the first question on
  std::vector<std::jthread> askers_;
};

} // namespace pubsub
