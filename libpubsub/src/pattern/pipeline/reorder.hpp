// Tasks in the order of their numbers. Pure: no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::pattern {

/// Holds what comes too early until what is before it has come, or is known never to come; appends
/// it to `ready` then. What comes again is ready, or waits, already: it is ready at once, in any
/// place. `Item` is what is ordered.
template <class Item>
class reorder {
public:
  explicit reorder(std::deque<Item>& ready) : ready_(ready) {}

  void put(const endpoint_id& source, std::uint64_t number, Item item) {
    auto& from = sources_[source];
    if (number < from.next || !from.waiting.try_emplace(number, std::move(item)).second)
      ready_.push_back(std::move(item));
    else
      release(from);
  }
  /// Numbers below are done elsewhere, or never will be.
  void settle(const endpoint_id& source, std::uint64_t below) {
    auto& from = sources_[source];
    from.begun = true;
    from.settled = std::max(from.settled, below);
    release(from);
  }
  /// Forgets what waits.
  void clear() noexcept { sources_.clear(); }

private:
  struct stream {
    bool begun = false; // it is known where it begins
    std::uint64_t settled = 0;
    std::uint64_t next = 0; // to be ready
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
      ++from.next;
    }
  }

  std::deque<Item>& ready_;
  std::map<endpoint_id, stream> sources_;
};

} // namespace pubsub::pattern
