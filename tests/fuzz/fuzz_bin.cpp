// Any bytes as a value in bin::v1: refused, or read in place and as a tree alike.
#include "fuzz/check.hpp"

#include <pubsub/data_view.hpp>
#include <pubsub/zeek.hpp>

#include <cstdint>

using namespace pubsub;

namespace {

std::size_t walk(const data_view& x) {
  std::size_t values = 1;
  for (const auto member : x.elements())
    values += walk(member);
  for (const auto [key, value] : x.entries())
    values += walk(key) + walk(value);
  return values;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const std::span bytes{reinterpret_cast<const std::byte*>(input), size};
  const auto view = data_view::make(bytes);
  if (!view) {
    fuzz::check(!view.error().context().empty(), "an error says where");
    return 0;
  }
  fuzz::check(view->bytes().size() == size, "a value ends where its bytes end");
  fuzz::check(walk(*view) <= size, "each value takes a byte");
  const auto tree = view->to_data();
  if (const auto* members = tree.get_if<set>())
    fuzz::check(members->size() == view->size(), "no member of a set is lost");
  if (const auto* pairs = tree.get_if<table>())
    fuzz::check(pairs->size() == view->size(), "no pair of a table is lost");
  fuzz::check_bytes_give_back(tree);
  fuzz::check(!to_json(*view).empty(), "every value renders");
  const auto in_place = zeek::view_event(*view);
  const auto in_tree = zeek::parse_event(tree);
  fuzz::check(in_place.has_value() == in_tree.has_value(), "events are recognised alike");
  fuzz::check(!in_tree || in_place->args_size() == in_tree->args.size(), "events read alike");
  fuzz::check(!in_tree || zeek::kind_of(*view) == zeek::message_kind::event,
              "an event is an event");
  return 0;
}
