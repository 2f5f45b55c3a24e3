// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/membership.hpp"

#include "base/log.hpp"
#include "cluster/tuning.hpp"

#include <algorithm>
#include <random>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

namespace pubsub::cluster {

namespace {

/// Changed at random by up to a quarter: members that have lost the same cluster at once do not
/// come back at once.
std::chrono::milliseconds about(std::chrono::milliseconds pause) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<std::int64_t> change{-pause.count() / 4, pause.count() / 4};
  return pause + std::chrono::milliseconds{change(random)};
}

} // namespace

membership::membership(std::shared_ptr<endpoint> ep, gateway_host host, private_folder folder,
                       peer_options link, session_maker make)
    : ep_(std::move(ep)), of_(std::move(host)), folder_(std::move(folder)), link_(std::move(link)),
      make_(std::move(make)),
      wake_(::eventfd(0, EFD_CLOEXEC)), host_{.wake_fd = wake_.get(),
                                              .address = "unix://" + folder_.path() + "/zeek",
                                              .network = *ep_,
                                              .reached = [this] { reached(); },
                                              .failed =
                                                  [this](std::string why) {
                                                    failed(std::move(why));
                                                  }} {
  link_.alias = of_.uri;
}

membership::~membership() {
  leave();
}

void membership::leave() {
  ::eventfd_write(wake_.get(), 1);
  if (thread_.joinable())
    thread_.join();
}

expected<void> membership::start() {
  if (!wake_.valid())
    return error{errc::limit_exceeded, "no file descriptor is left"};
  auto first = make_(host_);
  if (!first)
    return first.error();
  session_ = std::move(*first);
  try {
    thread_ = std::thread{[this] { run(); }};
  } catch (const std::system_error& none) {
    return error{errc::limit_exceeded, std::string{"no thread for a cluster: "} + none.what()};
  }
  return {};
}

std::string membership::problem() const {
  std::lock_guard lock{mutex_};
  return problem_;
}

bool membership::wait_connected(std::chrono::nanoseconds timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  endpoint_id node;
  {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, timeout, [this] { return node_.has_value(); }))
      return false;
    node = *node_;
  }
  const auto left = deadline - std::chrono::steady_clock::now();
  return ep_->wait_for_peer(node, std::max(left, decltype(left)::zero()));
}

void membership::run() {
  sigset_t all; // signals belong to the host program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), "pubsub-cluster");
  auto pause = tuning::first_reconnect_interval;
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    const bool was_reached = run_session();
    if (was_reached && std::chrono::steady_clock::now() - begin > tuning::last_reconnect_interval)
      pause = tuning::first_reconnect_interval;
    if (woken_within(about(pause)))
      return;
    pause = std::min(2 * pause, tuning::last_reconnect_interval);
  }
}

bool membership::run_session() {
  bool was_reached = false;
  try {
    if (!session_) {
      auto next = make_(host_);
      if (!next)
        failed(next.error().message());
      else
        session_ = std::move(*next);
    }
    was_reached = session_ && session_->run();
  } catch (const std::exception& problem) {
    failed(std::string{"the cluster cannot be reached: "} + problem.what());
  }
  {
    std::lock_guard lock{mutex_};
    node_.reset();
  }
  session_.reset();
  return was_reached;
}

bool membership::woken_within(std::chrono::milliseconds pause) const {
  pollfd item{.fd = wake_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&item, 1, static_cast<int>(pause.count())) > 0;
}

void membership::reached() {
  if (const auto peering = ep_->peer_async(host_.address, link_); !peering)
    return failed(peering.error().message());
  std::lock_guard lock{mutex_};
  node_ = session_->node_id();
  problem_.clear();
  changed_.notify_all();
}

void membership::failed(std::string why) {
  if (of_.failed)
    of_.failed({errc::peer_unavailable, why});
  std::unique_lock lock{mutex_};
  if (why == std::exchange(problem_, why))
    return;
  lock.unlock();
  log(log_level::warning, why);
}

} // namespace pubsub::cluster
