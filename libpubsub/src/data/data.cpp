#include <pubsub/data.hpp>

#include "data/real_bits.hpp"

#include <array>

namespace pubsub {

namespace {

template <class T>
int compare_plain(const T& x, const T& y) noexcept {
  return x < y ? -1 : static_cast<int>(y < x);
}

int compare_data(const data& x, const data& y) noexcept;

// The standard containers' own comparison asks `x < y` and then `y < x` of every member, which
// doubles the work at each level of nesting; a three-way walk stays linear.
int compare_members(const auto& x, const auto& y) noexcept {
  auto i = x.begin();
  auto j = y.begin();
  for (; i != x.end() && j != y.end(); ++i, ++j)
    if (const int order = compare_data(*i, *j); order != 0)
      return order;
  return static_cast<int>(i != x.end()) - static_cast<int>(j != y.end());
}

int compare_tables(const table& x, const table& y) noexcept {
  auto i = x.begin();
  auto j = y.begin();
  for (; i != x.end() && j != y.end(); ++i, ++j) {
    if (const int order = compare_data(i->first, j->first); order != 0)
      return order;
    if (const int order = compare_data(i->second, j->second); order != 0)
      return order;
  }
  return static_cast<int>(i != x.end()) - static_cast<int>(j != y.end());
}

template <class T>
int compare_as(const data& x, const data& y) noexcept {
  return compare_plain(*x.get_if<T>(), *y.get_if<T>());
}

int compare_data(const data& x, const data& y) noexcept {
  if (x.type() != y.type())
    return x.type() < y.type() ? -1 : 1;
  switch (x.type()) {
  case data_type::none:
    return 0;
  case data_type::boolean:
    return compare_as<boolean>(x, y);
  case data_type::count:
    return compare_as<count>(x, y);
  case data_type::integer:
    return compare_as<integer>(x, y);
  case data_type::real:
    return compare_real(*x.get_if<real>(), *y.get_if<real>());
  case data_type::string:
    return x.get_if<std::string>()->compare(*y.get_if<std::string>());
  case data_type::address:
    return compare_as<address>(x, y);
  case data_type::subnet:
    return compare_as<subnet>(x, y);
  case data_type::port:
    return compare_as<port>(x, y);
  case data_type::timestamp:
    return compare_as<timestamp>(x, y);
  case data_type::timespan:
    return compare_as<timespan>(x, y);
  case data_type::enum_value:
    return x.get_if<enum_value>()->name().compare(y.get_if<enum_value>()->name());
  case data_type::set:
    return compare_members(*x.get_if<set>(), *y.get_if<set>());
  case data_type::table:
    return compare_tables(*x.get_if<table>(), *y.get_if<table>());
  case data_type::vector:
    return compare_members(*x.get_if<vector>(), *y.get_if<vector>());
  }
  return 0;
}

} // namespace

bool operator==(const data& x, const data& y) noexcept {
  return compare_data(x, y) == 0;
}

std::weak_ordering operator<=>(const data& x, const data& y) noexcept {
  return compare_data(x, y) <=> 0;
}

std::string_view to_string(data_type type) noexcept {
  static constexpr std::array<std::string_view, 15> names{
      "none", "boolean",   "count",    "integer",    "real", "string", "address", "subnet",
      "port", "timestamp", "timespan", "enum-value", "set",  "table",  "vector"};
  const auto index = static_cast<std::size_t>(type);
  return index < names.size() ? names[index] : std::string_view{"invalid"};
}

} // namespace pubsub
