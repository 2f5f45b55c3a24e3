// The subscribers of an endpoint that are open, for those who look at all of them.
#pragma once

#include <mutex>
#include <vector>

namespace pubsub {

class subscriber_core;

/// Thread-safe. A subscriber takes itself out before it goes away.
class subscriber_list {
public:
  void add(const subscriber_core* who) {
    std::lock_guard lock{mutex_};
    all_.push_back(who);
  }
  void remove(const subscriber_core* who) noexcept {
    std::lock_guard lock{mutex_};
    std::erase(all_, who);
  }
  /// Calls `visit(subscriber)` for each, in the order of their creation, until it returns false. No
  /// subscriber goes away meanwhile; `visit` must not open or close one.
  template <class F>
  void visit(F&& visit) const {
    std::lock_guard lock{mutex_};
    for (const auto* each : all_)
      if (!visit(*each))
        return;
  }
  std::size_t size() const {
    std::lock_guard lock{mutex_};
    return all_.size();
  }

private:
  mutable std::mutex mutex_; // guards all_
  std::vector<const subscriber_core*> all_;
};

} // namespace pubsub
