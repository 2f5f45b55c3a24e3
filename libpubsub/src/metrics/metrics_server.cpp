// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/metrics/metrics_server.hpp>

#include <thread>

#include <pthread.h>
#include <signal.h>

#include "base/log.hpp"
#include "metrics/beast.hpp"
#include "metrics/http_server.hpp"

namespace pubsub {

class metrics_server::running {
public:
  running(std::shared_ptr<const endpoint> ep, const metrics_options& options)
      : server_(loop_, std::move(ep), options) {}
  ~running() {
    loop_.stop();
    if (thread_.joinable())
      thread_.join();
  }

  expected<void> start(std::string_view address) {
    if (auto listening = server_.listen(address); !listening)
      return listening;
    try {
      thread_ = std::thread{[this] { run(); }};
    } catch (const std::system_error& failed) {
      return error{errc::limit_exceeded, std::string{"no thread for metrics: "} + failed.what()};
    }
    return {};
  }
  std::uint16_t port() const noexcept { return server_.port(); }

private:
  void run() {
    sigset_t all; // signals belong to the host program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "pubsub-metrics");
    while (!loop_.stopped()) {
      try {
        loop_.run();
      } catch (const std::exception& problem) { // as when there is no memory for an answer
        log(log_level::error, std::string{"serving metrics: "} + problem.what());
      }
    }
  }

  asio::io_context loop_{1};
  http_server server_;
  std::thread thread_;
};

metrics_server::metrics_server(std::unique_ptr<running> state) : state_(std::move(state)) {}
metrics_server::metrics_server(metrics_server&&) noexcept = default;
metrics_server& metrics_server::operator=(metrics_server&&) noexcept = default;
metrics_server::~metrics_server() = default;

expected<metrics_server> metrics_server::start(const endpoint& ep, std::string_view address,
                                               metrics_options options) {
  auto state = std::make_unique<running>(ep.share(), options);
  if (auto started = state->start(address); !started)
    return started.error();
  return metrics_server{std::move(state)};
}

std::uint16_t metrics_server::port() const noexcept {
  return state_->port();
}

} // namespace pubsub
