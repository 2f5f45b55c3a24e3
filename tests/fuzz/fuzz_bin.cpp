// Any bytes as a value in bin::v1: refused, or read in place and as a tree alike.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <pubsub/data_view.hpp>

#include <optional>

namespace pubsub::fuzz {

namespace {

std::size_t walk(const data_view& x) {
  std::size_t values = 1;
  for (const auto member : x.elements())
    values += walk(member);
  for (const auto [key, value] : x.entries())
    values += walk(key) + walk(value);
  return values;
}

/// What a view says of a scalar is what the tree holds.
void check_scalar(const data_view& x, const data& tree) {
  check(x.type() == tree.type(), "view and tree have one type");
  const bool container = is<set>(tree) || is<table>(tree) || is<vector>(tree);
  check(container || x.size() == 0, "what is no container has no members");
  const auto same = [&](const data& y) { check(y == tree, "view and tree have one value"); };
  switch (x.type()) {
  case data_type::boolean:
    return same(x.as_boolean());
  case data_type::count:
    return same(x.as_count());
  case data_type::integer:
    return same(x.as_integer());
  case data_type::real:
    return same(x.as_real());
  case data_type::string:
    return same(x.as_string());
  case data_type::address:
    return same(x.as_address());
  case data_type::subnet:
    return same(x.as_subnet());
  case data_type::port:
    return same(x.as_port());
  case data_type::timestamp:
    return same(x.as_timestamp());
  case data_type::timespan:
    return same(x.as_timespan());
  case data_type::enum_value:
    return same(enum_value{std::string{x.as_enum()}});
  default:
    return;
  }
}

void try_input(std::span<const std::byte> bytes) {
  std::optional<expected<data_view>> view;
  {
    const auto bound = bounded_by(bytes.size());
    view = data_view::make(bytes);
  }
  if (!*view) {
    check(!view->error().context().empty(), "an error says where");
    return;
  }
  const auto& x = **view;
  check(x.bytes().size() == bytes.size(), "a value ends where its bytes end");
  check(walk(x) <= bytes.size(), "each value takes a byte");
  data tree;
  {
    const auto bound = bounded_by(bytes.size());
    tree = x.to_data();
  }
  check_scalar(x, tree);
  if (const auto* members = tree.get_if<set>())
    check(members->size() == x.size(), "no member of a set is lost");
  if (const auto* pairs = tree.get_if<table>())
    check(pairs->size() == x.size(), "no pair of a table is lost");
  check_bytes_give_back(tree);
  check(!to_json(x).empty(), "every value renders");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
