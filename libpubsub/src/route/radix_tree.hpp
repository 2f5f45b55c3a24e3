// An ordered map from byte strings to values whose copies are snapshots. Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "route/radix_node.hpp"

namespace pubsub {

/// A tree that branches where keys differ. A copy costs one reference and stays as it is: a change
/// replaces the nodes from the root to the changed one that are shared with a copy, at most one per
/// byte of the key, and changes those in place that are not. No key may be a prefix of another.
/// const access is concurrent; copies may be used, changed and destroyed by different threads.
template <class T>
class radix_tree {
public:
  bool empty() const noexcept { return !root_; }
  /// False if the key is there already; then nothing changes.
  bool insert(std::string_view key, T value);
  /// False if there is no such key.
  bool erase(std::string_view key);
  bool contains(std::string_view key) const noexcept;

  /// Visits the values of all keys that are made of a prefix of `text`, the byte `end`, and
  /// anything (at most some ten bytes), in the order of keys. `text` does not contain `end`. Stops
  /// once `visit` returns false, and returns that.
  template <class Visitor>
  bool visit_prefixes(std::string_view text, char end, Visitor&& visit) const;

private:
  using node = radix_node<T>;
  using node_ptr = typename node::pointer;

  static std::size_t common_length(std::string_view a, std::string_view b) noexcept;
  template <class Visitor>
  static bool visit_all(const node& here, Visitor& visit);

  node_ptr root_; // null, or without a label and with nodes below
};

template <class T>
std::size_t radix_tree<T>::common_length(std::string_view a, std::string_view b) noexcept {
  const auto [end, other] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end - a.begin());
}

template <class T>
bool radix_tree<T>::contains(std::string_view key) const noexcept {
  for (const node* here = root_.get(); here != nullptr; here = here->find(key.front())) {
    if (!key.starts_with(here->label()))
      return false;
    key.remove_prefix(here->label().size());
    if (key.empty())
      return here->is_leaf();
  }
  return false;
}

template <class T>
bool radix_tree<T>::insert(std::string_view key, T value) {
  if (contains(key))
    return false;
  if (!root_) {
    root_ = node::make_inner({}, node::make_leaf(key, std::move(value)), {});
    return true;
  }
  auto* place = &root_;
  while (true) {
    const auto label = (*place)->label();
    const auto same = common_length(label, key);
    key.remove_prefix(same);
    if (same < label.size()) {
      auto leaf = node::make_leaf(key, std::move(value));
      auto lower = node::relabelled(*place, label.substr(same));
      *place = node::make_inner(label.substr(0, same), std::move(lower), std::move(leaf));
      return true;
    }
    if ((*place)->find(key.front()) == nullptr) {
      *place = node::with(*place, node::make_leaf(key, std::move(value)));
      return true;
    }
    place = node::own(*place).place_of(key.front());
  }
}

template <class T>
bool radix_tree<T>::erase(std::string_view key) {
  if (!contains(key))
    return false;
  auto* place = &root_;
  while (true) {
    key.remove_prefix((*place)->label().size());
    if ((*place)->find(key.front())->label().size() == key.size())
      break;
    place = node::own(*place).place_of(key.front());
  }
  const auto left = (*place)->size() - 1;
  if (left == 0)
    root_ = {}; // below the root there are two at least
  else if (left == 1 && place != &root_)
    *place = node::joined_without(*place, key.front());
  else
    *place = node::without(*place, key.front());
  return true;
}

template <class T>
template <class Visitor>
bool radix_tree<T>::visit_prefixes(std::string_view text, char end, Visitor&& visit) const {
  for (const node* here = root_.get(); here != nullptr;) {
    const auto label = here->label();
    const auto same = common_length(label, text);
    if (same < label.size())
      return label[same] != end || visit_all(*here, visit);
    text.remove_prefix(same);
    if (const auto* ended = here->find(end); ended != nullptr && !visit_all(*ended, visit))
      return false;
    here = text.empty() ? nullptr : here->find(text.front());
  }
  return true;
}

/// Recursion is bounded by what may follow `end`.
template <class T>
template <class Visitor>
bool radix_tree<T>::visit_all(const node& here, Visitor& visit) {
  if (here.is_leaf())
    return visit(here.value());
  return std::ranges::all_of(here.below(),
                             [&](const auto& each) { return visit_all(*each, visit); });
}

} // namespace pubsub
