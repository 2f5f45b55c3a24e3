// Broker's builders of containers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/compat/broker/message.hpp>

namespace broker {
inline namespace over_pubsub {

namespace detail {

/// A container that grows member by member, and is then taken as a value.
template <class Container>
class builder_base {
public:
  std::size_t num_values() const noexcept { return members_.size(); }
  bool empty() const noexcept { return members_.empty(); }
  void reset() { members_.clear(); }
  /// Hands over what was added; the builder is empty afterwards.
  data build() { return std::exchange(members_, {}); }
  operator data() const { return members_; }
  operator Container() const { return members_; }

protected:
  Container members_;
};

} // namespace detail

class list_builder : public detail::builder_base<vector> {
public:
  template <class T>
  list_builder& add(T&& x) & {
    members_.emplace_back(data(std::forward<T>(x)));
    return *this;
  }
  template <class T>
  list_builder&& add(T&& x) && {
    return std::move(add(std::forward<T>(x)));
  }
  /// Adds one member, a list of these.
  template <class... Ts>
  list_builder& add_list(Ts&&... xs) {
    return add(vector{data(std::forward<Ts>(xs))...});
  }
  /// Adds one member, a set of these.
  template <class... Ts>
  list_builder& add_set(Ts&&... xs) {
    return add(set{data(std::forward<Ts>(xs))...});
  }
  /// Hands over what was added as a message.
  data_message build_envelope(const topic& t) { return make_data_message(t, build()); }
};

class set_builder : public detail::builder_base<set> {
public:
  template <class T>
  set_builder& add(T&& x) & {
    members_.insert(data(std::forward<T>(x)));
    return *this;
  }
  template <class T>
  set_builder&& add(T&& x) && {
    return std::move(add(std::forward<T>(x)));
  }
};

class table_builder : public detail::builder_base<table> {
public:
  template <class K, class V>
  table_builder& add(K&& key, V&& value) & {
    members_.insert_or_assign(data(std::forward<K>(key)), data(std::forward<V>(value)));
    return *this;
  }
  template <class K, class V>
  table_builder&& add(K&& key, V&& value) && {
    return std::move(add(std::forward<K>(key), std::forward<V>(value)));
  }
};

} // namespace over_pubsub
} // namespace broker
