// The gateways of one endpoint.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/endpoint_options.hpp>
#include <pubsub/gateway.hpp>

namespace pubsub {

/// By the addresses that were given to `endpoint::peer`. Thread-safe. None is made or destroyed
/// with the mutex held: that may take a while, and they use their endpoint meanwhile.
class gateway_list {
public:
  explicit gateway_list(const std::vector<gateway_scheme>& schemes) : schemes_(schemes) {}

  /// Null for an address that has none of these schemes.
  const gateway_scheme* scheme_of(std::string_view uri) const {
    for (const auto& each : schemes_)
      if (uri.starts_with(each.name + "://"))
        return &each;
    return nullptr;
  }
  /// Errors: shutting_down.
  expected<void> add(const std::string& uri, std::shared_ptr<gateway> made) {
    std::unique_lock lock{mutex_};
    if (closed_)
      return errc::shutting_down;
    const auto before = std::exchange(all_[uri], std::move(made));
    lock.unlock();
    return {};
  }
  std::shared_ptr<gateway> find(const std::string& uri) const {
    std::lock_guard lock{mutex_};
    const auto found = all_.find(uri);
    return found == all_.end() ? nullptr : found->second;
  }
  /// False if there is none.
  bool remove(const std::string& uri) {
    std::unique_lock lock{mutex_};
    const auto gone = all_.extract(uri);
    lock.unlock();
    return !gone.empty();
  }
  /// Keeps what they have counted until they had left, and none of them: they hold the endpoint.
  void close() {
    std::unique_lock lock{mutex_};
    closed_ = true;
    const auto leaving = all_;
    lock.unlock();
    for (const auto& [uri, each] : leaving)
      each->leave();
    auto left = look();
    lock.lock();
    left_ = std::move(left);
    all_.clear();
    lock.unlock();
  }
  std::vector<gateway_info> look() const {
    std::lock_guard lock{mutex_};
    auto result = left_;
    for (const auto& [uri, each] : all_)
      result.push_back({uri, each->problem(), each->counters()});
    return result;
  }

private:
  const std::vector<gateway_scheme>& schemes_;
  mutable std::mutex mutex_; // guards what follows
  std::map<std::string, std::shared_ptr<gateway>> all_;
  std::vector<gateway_info> left_; // once all are closed
  bool closed_ = false;
};

} // namespace pubsub
