// The entries of one of Broker's stores, in memory, each with the time at which it ends.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/compat/broker/store/values.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// The clock of stores. It is handed in, so that tests turn it.
using store_time = std::chrono::steady_clock::time_point;

/// When an entry ends that is to live so long; never if that is a hundred years away.
inline std::optional<store_time> end_of(store_time now, std::optional<timespan> expiry) {
  if (!expiry || *expiry >= std::chrono::hours{24 * 365 * 100})
    return std::nullopt;
  return now + std::max(*expiry, timespan{0});
}

/// A map from keys to values. An entry whose time has come is no longer found, and is removed by
/// `expire`.
class store_entries {
public:
  store_entries() = default;
  store_entries(store_entries&&) = default;
  store_entries& operator=(store_entries&&) = default;

  const data* find(const data& key, store_time now) const {
    const auto found = entries_.find(key);
    return found != entries_.end() && lives(found->second, now) ? &found->second.value : nullptr;
  }
  void put(const data& key, data value, std::optional<store_time> end) {
    auto& entry = entries_[key];
    entry.value = std::move(value);
    set_end(key, entry, end);
  }
  /// Adds to the value, or to the empty one of type `init` if there is none. `ec::none`, or why
  /// not. With success the entry ends at `end`, and never without it.
  ec add(const data& key, const data& amount, data::type init, std::optional<store_time> end) {
    auto found = entries_.find(key);
    auto made = data::from_type(init);
    const auto result =
        visit(value_adder{amount}, found != entries_.end() ? found->second.value : made);
    if (result != ec::none)
      return result;
    if (found == entries_.end())
      put(key, std::move(made), end);
    else
      set_end(found->first, found->second, end);
    return ec::none;
  }
  ec subtract(const data& key, const data& amount, std::optional<store_time> end) {
    const auto found = entries_.find(key);
    if (found == entries_.end())
      return ec::no_such_key;
    const auto result = visit(value_remover{amount}, found->second.value);
    if (result == ec::none)
      set_end(found->first, found->second, end);
    return result;
  }
  /// Whether there was one.
  bool erase(const data& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end())
      return false;
    set_end(found->first, found->second, std::nullopt);
    entries_.erase(found);
    return true;
  }
  void clear() {
    ends_.clear();
    entries_.clear();
  }
  /// Removes the entries whose time has come, and returns their keys.
  std::vector<data> expire(store_time now) {
    std::vector<data> gone;
    while (!ends_.empty() && ends_.begin()->first <= now) {
      gone.push_back(*ends_.begin()->second);
      erase(gone.back());
    }
    return gone;
  }
  set keys(store_time now) const {
    set result;
    for (const auto& [key, entry] : entries_)
      if (lives(entry, now))
        result.insert(key);
    return result;
  }
  std::size_t size() const noexcept { return entries_.size(); }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [key, entry] : entries_)
      f(key, entry.value);
  }

private:
  using ends = std::multimap<store_time, const data*>; // points to keys in entries_
  struct content {
    data value;
    std::optional<ends::iterator> end;
  };

  static bool lives(const content& x, store_time now) { return !x.end || (*x.end)->first > now; }
  void set_end(const data& key, content& of, std::optional<store_time> end) {
    if (of.end)
      ends_.erase(*of.end);
    of.end.reset();
    if (end)
      of.end = ends_.emplace(*end, &entries_.find(key)->first);
  }

  std::unordered_map<data, content> entries_;
  ends ends_;
};

/// What is asked of a store.
struct store_query {
  enum class kind { get, exists, part, keys };
  kind what = kind::get;
  data key;
  data index;
};

inline expected<data> answer_of(const store_entries& entries, const store_query& query,
                                store_time now) {
  if (query.what == store_query::kind::keys)
    return data{entries.keys(now)};
  const auto* value = entries.find(query.key, now);
  if (query.what == store_query::kind::exists)
    return data{value != nullptr};
  if (value == nullptr)
    return ec::no_such_key;
  return query.what == store_query::kind::part ? visit(part_reader{query.index}, *value) : *value;
}

} // namespace detail
} // namespace over_pubsub
} // namespace broker
