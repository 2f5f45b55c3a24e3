// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/zeromq_proxy.hpp>

#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "cluster/proxy/proxy_bus.hpp"

#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

namespace pubsub::cluster {

class proxy_thread {
public:
  proxy_thread() : wake_(::eventfd(0, EFD_CLOEXEC)) {}

  ~proxy_thread() {
    ::eventfd_write(wake_.get(), 1);
    if (thread_.joinable())
      thread_.join();
  }

  expected<void> start(const zeromq_proxy_options& options) {
    if (!wake_.valid())
      return error{errc::limit_exceeded, "no file descriptor is left"};
    try {
      bus_.emplace(options, wake_.get());
      xsub_address_ = bus_->xsub_address();
      xpub_address_ = bus_->xpub_address();
    } catch (const zmq::error_t& failed) {
      return error_of_address(failed, options.listen_xsub + ", " + options.listen_xpub);
    }
    try {
      thread_ = std::thread{[this] { run(); }};
    } catch (const std::system_error& none) {
      return error{errc::limit_exceeded, std::string{"no thread for a proxy: "} + none.what()};
    }
    return {};
  }

  const std::string& xsub_address() const noexcept { return xsub_address_; }
  const std::string& xpub_address() const noexcept { return xpub_address_; }

  zeromq_proxy_counters counters() const {
    std::lock_guard lock{mutex_};
    return counters_;
  }

  std::string problem() const {
    std::lock_guard lock{mutex_};
    return problem_;
  }

private:
  void run() {
    sigset_t all; // signals belong to the host program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "pubsub-proxy");
    try {
      while (bus_->turn()) {
        std::lock_guard lock{mutex_};
        counters_ = bus_->counters();
      }
    } catch (const std::exception& failed) {
      std::lock_guard lock{mutex_};
      problem_ = std::string{"the proxy has ended: "} + failed.what();
      log(log_level::error, problem_);
    }
    bus_.reset();
  }

  const unique_fd wake_;
  std::string xsub_address_;
  std::string xpub_address_;

  mutable std::mutex mutex_; // guards what follows
  zeromq_proxy_counters counters_;
  std::string problem_;

  std::optional<proxy_bus> bus_; // of `thread_`, once that runs
  std::thread thread_;
};

expected<void> check(const zeromq_proxy_options& options) {
  constexpr std::size_t max_queue = 1'000'000;
  if (options.reader_queue_messages < 2 || options.reader_queue_messages > max_queue)
    return error{errc::invalid_argument, "reader_queue_messages must be from 2 to 1,000,000"};
  if (options.patience.count() < 0 || options.patience > std::chrono::minutes{1})
    return error{errc::invalid_argument, "patience must be from 0 to 60 seconds"};
  if (!options.more_clients.empty() && !options.curve)
    return error{errc::invalid_argument, "more_clients means nothing without keys (curve)"};
  if (!options.curve)
    return {};
  if (auto checked = check(*options.curve, curve_role::server); !checked)
    return checked;
  auto keys = *options.curve;
  for (const auto& each : options.more_clients) {
    keys.client_public = each;
    if (!check(keys, curve_role::server))
      return error{errc::invalid_argument, "one of more_clients is no key: " + each};
  }
  return {};
}

zeromq_proxy::zeromq_proxy(std::unique_ptr<proxy_thread> state) : state_(std::move(state)) {}
zeromq_proxy::zeromq_proxy(zeromq_proxy&&) noexcept = default;
zeromq_proxy& zeromq_proxy::operator=(zeromq_proxy&&) noexcept = default;
zeromq_proxy::~zeromq_proxy() = default;

expected<zeromq_proxy> zeromq_proxy::start(zeromq_proxy_options options) {
  if (auto checked = check(options); !checked)
    return checked.error();
  auto state = std::make_unique<proxy_thread>();
  if (auto started = state->start(options); !started)
    return started.error();
  return zeromq_proxy{std::move(state)};
}

const std::string& zeromq_proxy::xsub_address() const noexcept {
  return state_->xsub_address();
}

const std::string& zeromq_proxy::xpub_address() const noexcept {
  return state_->xpub_address();
}

zeromq_proxy_counters zeromq_proxy::counters() const {
  return state_->counters();
}

std::string zeromq_proxy::problem() const {
  return state_->problem();
}

} // namespace pubsub::cluster
