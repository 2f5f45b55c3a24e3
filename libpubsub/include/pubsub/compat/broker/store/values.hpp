// What the commands of Broker's stores do to the value of one entry, and how a part of it is read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/compat/broker/error.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// Whole numbers wrap around at the end of their range, since the amounts may be a peer's.
template <class T>
T plus(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  else
    return x + y;
}
template <class T>
T minus(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y));
  else
    return x - y;
}
inline timespan plus(timespan x, timespan y) {
  return timespan{plus(x.count(), y.count())};
}
inline timespan minus(timespan x, timespan y) {
  return timespan{minus(x.count(), y.count())};
}

/// Adds to what it visits: numbers, spans, a span to a time, text to text, a member to a set, a
/// value to the end of a vector, a pair (a vector of a key and a value) to a table. `ec::none`,
/// or why not; then nothing is changed.
struct value_adder {
  const data& amount;

  ec operator()(count& x) const { return add(x); }
  ec operator()(integer& x) const { return add(x); }
  ec operator()(real& x) const { return add(x); }
  ec operator()(timespan& x) const { return add(x); }
  ec operator()(timestamp& x) const {
    if (!amount.is_timespan())
      return ec::type_clash;
    x = timestamp{plus(x.time_since_epoch(), amount.to_timespan())};
    return ec::none;
  }
  ec operator()(std::string& x) const {
    if (!amount.is_string())
      return ec::type_clash;
    x += amount.to_string();
    return ec::none;
  }
  ec operator()(set& x) const {
    x.insert(amount);
    return ec::none;
  }
  ec operator()(vector& x) const {
    x.push_back(amount);
    return ec::none;
  }
  ec operator()(table& x) const {
    const auto* pair = get_if<vector>(amount);
    if (pair == nullptr)
      return ec::type_clash;
    if (pair->size() != 2)
      return ec::invalid_data;
    x.insert_or_assign(pair->front(), pair->back());
    return ec::none;
  }
  template <class T>
  ec operator()(T&) const {
    return ec::type_clash;
  }

private:
  template <class T>
  ec add(T& x) const {
    const auto* y = get_if<T>(amount);
    if (y == nullptr)
      return ec::type_clash;
    x = plus(x, *y);
    return ec::none;
  }
};

/// Takes from what it visits: the reverse of value_adder, but of a vector the last value, whatever
/// the amount, and of a table the entry with the amount as its key.
struct value_remover {
  const data& amount;

  ec operator()(count& x) const { return subtract(x); }
  ec operator()(integer& x) const { return subtract(x); }
  ec operator()(real& x) const { return subtract(x); }
  ec operator()(timespan& x) const { return subtract(x); }
  ec operator()(timestamp& x) const {
    if (!amount.is_timespan())
      return ec::type_clash;
    x = timestamp{minus(x.time_since_epoch(), amount.to_timespan())};
    return ec::none;
  }
  ec operator()(set& x) const {
    x.erase(amount);
    return ec::none;
  }
  ec operator()(vector& x) const {
    if (!x.empty())
      x.pop_back();
    return ec::none;
  }
  ec operator()(table& x) const {
    x.erase(amount);
    return ec::none;
  }
  template <class T>
  ec operator()(T&) const {
    return ec::type_clash;
  }

private:
  template <class T>
  ec subtract(T& x) const {
    const auto* y = get_if<T>(amount);
    if (y == nullptr)
      return ec::type_clash;
    x = minus(x, *y);
    return ec::none;
  }
};

/// The member of a vector, whether a set has a member, the value behind a key of a table; of
/// anything else the whole of it.
struct part_reader {
  const data& index;

  expected<data> operator()(const vector& x) const {
    if (!index.is_count() && !(index.is_integer() && index.to_integer() >= 0))
      return ec::type_clash;
    const auto at = index.is_count() ? index.to_count() : static_cast<count>(index.to_integer());
    if (at >= x.size())
      return ec::no_such_key;
    return x[static_cast<std::size_t>(at)];
  }
  expected<data> operator()(const set& x) const { return data{x.count(index) == 1}; }
  expected<data> operator()(const table& x) const {
    const auto found = x.find(index);
    if (found == x.end())
      return ec::no_such_key;
    return found->second;
  }
  template <class T>
  expected<data> operator()(const T& x) const {
    return data{x};
  }
};

} // namespace detail
} // namespace over_pubsub
} // namespace broker
