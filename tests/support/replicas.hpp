// Replicas of versioned delivery, each at a node of its own around a hub.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/pattern/versioned.hpp>

#include <doctest/doctest.h>

#include "support/eventually.hpp"
#include "support/nodes.hpp"
#include "support/version_history.hpp"

namespace pubsub::test {

/// Of a group of three that notices a lost replica soon.
inline replica_options quick(std::string id) {
  replica_options result;
  result.id = std::move(id);
  result.liveness_timeout = std::chrono::seconds{1};
  return result;
}

/// A replica at a node of its own, and a thread that takes what it hands out.
class server {
public:
  server(endpoint& hub, const replica_options& options, std::string group = "g") {
    join(node_, hub);
    it_.emplace(*replica::open(node_, group, options));
    reader_ = std::thread{[this] { run(); }};
  }
  ~server() { stop(); }
  void stop() {
    it_->close();
    if (reader_.joinable())
      reader_.join();
  }
  /// As if its process had ended.
  void kill() {
    node_.close(std::chrono::nanoseconds{0});
    stop();
  }
  replica& operator*() { return *it_; }
  replica* operator->() { return &*it_; }
  std::uint64_t last() const { return last_; }
  std::vector<versioned_message> messages() const {
    std::lock_guard lock{mutex_};
    return messages_;
  }

private:
  void run() {
    while (auto some = it_->get_batch(1'000)) {
      std::lock_guard lock{mutex_};
      for (auto& each : *some)
        messages_.push_back(std::move(each));
      last_ = messages_.back().version.number;
    }
  }

  endpoint node_;
  std::optional<replica> it_;
  mutable std::mutex mutex_; // guards messages_
  std::vector<versioned_message> messages_;
  std::atomic<std::uint64_t> last_{0};
  std::thread reader_;
};

/// A hub, and servers around it.
struct cluster {
  explicit cluster(std::size_t n = 3) {
    for (std::size_t i = 0; i < n; ++i)
      add(quick(std::string(1, static_cast<char>('a' + i))));
    for (auto& each : servers)
      REQUIRE((*each)->wait_ready(patience));
  }
  server& add(const replica_options& options) {
    return *servers.emplace_back(std::make_unique<server>(hub, options));
  }
  server& sequencer() {
    server* found = nullptr;
    REQUIRE(eventually([&] {
      for (auto& each : servers)
        if ((*each)->is_sequencer())
          found = each.get();
      return found != nullptr;
    }));
    return *found;
  }
  /// Until all that live have handed out as much; then they must agree.
  void check(const std::map<std::uint64_t, message_version>& acknowledged, const endpoint_id& by) {
    std::uint64_t most = 0;
    for (const auto& [number, at] : acknowledged)
      most = std::max(most, at.number);
    for (auto& each : servers)
      if (!(*each)->closed())
        REQUIRE(eventually([&] { return each->last() >= most; }));
    version_history all;
    for (auto& each : servers) {
      auto part = all.replica((*each)->id());
      for (const auto& one : each->messages())
        part.add(one);
    }
    all.check_contiguous();
    for (const auto& [number, at] : acknowledged)
      all.acknowledged(by, number, at);
    for (const auto& each : all.violations())
      FAIL_CHECK(each);
  }

  endpoint hub;
  std::vector<std::unique_ptr<server>> servers;
};

/// Of a client that waits for three replicas.
inline versioned_group_options with(versioning scheme) {
  versioned_group_options result;
  result.scheme = scheme;
  result.replicas = 3;
  result.timeout = patience;
  return result;
}

} // namespace pubsub::test
