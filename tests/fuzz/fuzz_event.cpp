// Any value as a Zeek message: the readers agree what it is, and an event survives being made
// again.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <pubsub/data_view.hpp>
#include <pubsub/zeek/message.hpp>

#include <algorithm>
#include <optional>

namespace pubsub::fuzz {

namespace {

void check_event(const data_view& x, const zeek::event& event) {
  const auto in_place = zeek::view_event(x);
  check(in_place && in_place->name() == event.name, "an event in place is the event");
  check(in_place->args_size() == event.args.size() &&
            in_place->args_view().to_data() == data{event.args} &&
            in_place->network_time() == event.network_time && in_place->trace() == event.trace,
        "events read alike");
  const auto made = zeek::make_event(event.name, event.args, event.network_time, event.trace);
  const auto again = zeek::parse_event(made);
  check(again && *again == event, "an event is read as it was made");
}

void check_flat(const zeek::message& x) {
  const auto flat = zeek::flatten(x);
  check(std::ranges::none_of(
            flat, [](const auto& each) { return std::holds_alternative<zeek::batch>(each); }),
        "no batch is left in what is flat");
}

void try_input(std::span<const std::byte> bytes) {
  const auto view = data_view::make(bytes);
  if (!view)
    return;
  std::optional<expected<zeek::message>> read;
  {
    const auto bound = bounded_by(bytes.size(), 64 * 1024); // errors of batches in batches
    read = zeek::parse_message(*view);
  }
  const auto& x = *read;
  const auto kind = zeek::kind_of(*view);
  check(!x || kind.has_value(), "what can be read is of some kind");
  const auto event = zeek::parse_event(view->to_data());
  check(event.has_value() == (kind == zeek::message_kind::event) &&
            event.has_value() == zeek::view_event(*view).has_value(),
        "events are recognised alike");
  if (!x) {
    check(x.error() == errc::invalid_message && !x.error().context().empty(),
          "an error says what is wrong");
    return;
  }
  check(static_cast<std::size_t>(*kind) == x->index() + 1, "a message is of its kind");
  if (event)
    check_event(*view, std::get<zeek::event>(*x));
  check_flat(*x);
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
