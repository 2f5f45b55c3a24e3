// A TCP proxy that can stop passing bytes on while both its connections stay open.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include "support/raw_socket.hpp"

namespace pubsub::test {

/// Passes on what comes to its port, to `target` and back, until told to swallow it: then bytes,
/// and the ends of streams, vanish. Connections made later are passed on again.
class proxy {
public:
  explicit proxy(std::uint16_t target) : target_(target) {
    accepts_ = std::thread{[this] { accept_all(); }};
  }
  ~proxy() {
    done_ = true;
    accepts_.join();
    for (auto& each : all_)
      each.runs.join();
  }

  std::uint16_t port() const { return listener_.port(); }
  /// What the connecting side sends is not passed on any more.
  void swallow_forth() { swallow(&tunnel::forth); }
  /// What the accepting side sends is not passed on any more.
  void swallow_back() { swallow(&tunnel::back); }

private:
  struct tunnel {
    raw_socket near;
    raw_socket far;
    std::atomic<bool> forth{true};
    std::atomic<bool> back{true};
    std::thread runs;
  };

  void swallow(std::atomic<bool> tunnel::*direction) {
    std::lock_guard lock{mutex_};
    for (auto& each : all_)
      each.*direction = false;
  }

  void accept_all() {
    while (!done_) {
      auto came = listener_.accept(std::chrono::milliseconds{10});
      if (!came)
        continue;
      std::lock_guard lock{mutex_};
      auto& fresh = all_.emplace_back();
      fresh.near = std::move(*came);
      fresh.far = raw_socket::connect(target_);
      fresh.runs = std::thread{[this, &fresh] { run(fresh); }};
    }
  }

  void run(tunnel& x) {
    while (!done_) {
      pollfd both[] = {{x.near.fd(), POLLIN, 0}, {x.far.fd(), POLLIN, 0}};
      if (::poll(both, 2, 10) <= 0)
        continue;
      if (both[0].revents != 0 && !pass(x.near, x.far, x.forth))
        x.near.close();
      if (both[1].revents != 0 && !pass(x.far, x.near, x.back))
        x.far.close();
    }
  }

  /// False at the end of the stream.
  static bool pass(raw_socket& from, raw_socket& to, const std::atomic<bool>& open) {
    std::byte piece[65536];
    const auto n = ::recv(from.fd(), piece, sizeof piece, MSG_DONTWAIT);
    if (n > 0) {
      if (open && to.fd() >= 0)
        to.send({piece, static_cast<std::size_t>(n)});
      return true;
    }
    if (n < 0 && errno == EAGAIN)
      return true;
    if (open && to.fd() >= 0)
      to.close();
    return false;
  }

  const std::uint16_t target_;
  raw_listener listener_;
  std::atomic<bool> done_{false};
  std::mutex mutex_; // guards all_, except when done
  std::list<tunnel> all_;
  std::thread accepts_;
};

} // namespace pubsub::test
