// SPDX-License-Identifier: BSD-3-Clause
#include "filter/kinds.hpp"

#include <array>
#include <utility>

namespace pubsub::conditions {

namespace {

struct known_type {
  std::string_view name;
  scalar_kind kind;
};

constexpr std::array<known_type, 14> known_types{{{"bool", scalar_kind::truth},
                                                  {"int", scalar_kind::number},
                                                  {"count", scalar_kind::number},
                                                  {"double", scalar_kind::number},
                                                  {"time", scalar_kind::moment},
                                                  {"interval", scalar_kind::duration},
                                                  {"string", scalar_kind::text},
                                                  {"file", scalar_kind::text},
                                                  {"func", scalar_kind::text},
                                                  {"enum", scalar_kind::label},
                                                  {"port", scalar_kind::service},
                                                  {"addr", scalar_kind::host},
                                                  {"subnet", scalar_kind::network},
                                                  {"pattern", scalar_kind::text}}};

constexpr std::array<std::pair<scalar_kind, std::string_view>, 9> kind_names{
    {{scalar_kind::truth, "a bool"},
     {scalar_kind::number, "a number"},
     {scalar_kind::text, "a string"},
     {scalar_kind::label, "the label of an enum"},
     {scalar_kind::host, "an address"},
     {scalar_kind::network, "a subnet"},
     {scalar_kind::service, "a port"},
     {scalar_kind::moment, "a time"},
     {scalar_kind::duration, "a length of time"}}};

} // namespace

column_kinds kinds_of_type(std::string_view type) noexcept {
  column_kinds result;
  for (const std::string_view outer : {"set[", "vector[", "table["})
    if (type.starts_with(outer) && type.ends_with(']')) {
      result = kinds_of_type(type.substr(outer.size(), type.size() - outer.size() - 1));
      if (result.container) // members that are containers are not compared
        result.kinds = any_kind;
      result.container = result.known = true;
      return result;
    }
  for (const auto& each : known_types)
    if (each.name == type) {
      result.known = true;
      result.kinds = only(each.kind);
      result.natural = type == "count";
      result.whole = type == "int" || type == "count";
    }
  return result;
}

kind_set kinds_of(const pattern& x) noexcept {
  switch (x.kind) {
  case pattern_kind::within:
    return only(scalar_kind::host) | only(scalar_kind::network);
  case pattern_kind::prefix:
  case pattern_kind::regex:
    return only(scalar_kind::text) | only(scalar_kind::label);
  case pattern_kind::equal:
  case pattern_kind::range:
    break;
  }
  const auto literal = scalar_of(x.first);
  return literal ? only(literal->kind) : kind_set{0};
}

std::string name_of(kind_set x) {
  std::string result;
  for (const auto& [kind, name] : kind_names)
    if ((x & only(kind)) != 0) {
      result += result.empty() ? "" : " or ";
      result += name;
    }
  return result;
}

} // namespace pubsub::conditions
