// Tasks in the order of their numbers. Pure: no I/O, no threads.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include <pubsub/endpoint_id.hpp>

#include "pattern/mailbox/number_runs.hpp"

namespace pubsub::pattern {

/// Holds what comes too early until what is before it has come, or is known never to come. What
/// comes again has been handed out, or waits: it is handed out at once, in any place. `Item` is
/// what is ordered.
template <class Item>
class reorder {
public:
  void put(const endpoint_id& source, std::uint64_t number, Item item) {
    auto& from = sources_[source];
    if (number < from.next || !from.waiting.try_emplace(number, std::move(item)).second) {
      ready_.push_back(std::move(item));
      return;
    }
    ++waiting_;
    release(from);
  }
  /// Numbers below are done elsewhere, or never will be.
  void settle(const endpoint_id& source, std::uint64_t below) {
    auto& from = sources_[source];
    from.begun = true;
    if (below > from.settled)
      from.settled = below;
    release(from);
  }

  bool empty() const noexcept { return ready_.empty(); }
  std::size_t size() const noexcept { return ready_.size(); }
  std::optional<Item> take() {
    if (ready_.empty())
      return {};
    std::optional<Item> result{std::move(ready_.front())};
    ready_.pop_front();
    return result;
  }
  /// Items that wait for others.
  std::size_t waiting() const noexcept { return waiting_; }

private:
  struct stream {
    bool begun = false; // it is known where it begins
    std::uint64_t settled = 0;
    std::uint64_t next = 0; // to be handed out
    std::map<std::uint64_t, Item> waiting;
  };

  void release(stream& from) {
    while (!from.waiting.empty()) {
      const auto first = from.waiting.begin();
      if (from.begun && from.settled > from.next)
        from.next = std::min(from.settled, std::max(from.next, first->first));
      if (!from.begun || first->first != from.next)
        return;
      ready_.push_back(std::move(first->second));
      from.waiting.erase(first);
      --waiting_;
      ++from.next;
    }
  }

  std::map<endpoint_id, stream> sources_;
  std::deque<Item> ready_;
  std::size_t waiting_ = 0;
};

} // namespace pubsub::pattern
