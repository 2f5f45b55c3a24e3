// Any value as a Zeek message: the readers agree what it is, and an event survives being made
// again.
#include "fuzz/check.hpp"
#include "fuzz/golden_seeds.hpp"
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
            in_place->network_time() == event.network_time,
        "events read alike");
  const auto made = zeek::make_event(event.name, event.args, event.network_time);
  const auto again = zeek::parse_event(made);
  check(again && *again == event, "an event is read as it was made");
}

void check_flat(const zeek::message& x) {
  const auto flat = zeek::flatten(x);
  check(std::ranges::none_of(
            flat, [](const auto& each) { return std::holds_alternative<zeek::batch>(each); }),
        "no batch is left in what is flat");
}

} // namespace

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

std::vector<std::string> seeds() {
  auto out = golden_bytes({"zeek_messages.json"});
  const auto v1 = std::string{"0e03 020000000000000001 "};
  const auto kind = [](int n) { return "02000000000000000" + std::to_string(n) + " "; };
  const auto names = std::string{"0b0141 0b0142 "};
  const auto column = [](const std::string& type) {
    return "0e05 0501 61 00 02" + std::string(14, '0') + type + " 02" + std::string(14, '0') +
           "16 0101 ";
  };
  for (const auto& hex :
       {v1 + kind(2) + "0e04" + names + "0e01 050161 0e02" + column("05") + column("13"),
        v1 + kind(2) + "0e04" + names + "00 0e01" + column("0e"),
        v1 + kind(2) + "0e04" + names + "00 0e01" + column("17"),
        v1 + kind(2) + "0e04" + names + "00 050161",
        v1 + kind(2) + "0e04 050161 0b0141 0e00 0e00",
        v1 + kind(3) + "0e04 0b0141 050161 050161 050161",
        v1 + kind(3) + "0e04" + names + "00 050161",
        v1 + kind(3) + "0e04" + names + "050161 00",
        v1 + kind(3) + "0e02" + names,
        v1 + kind(2) + "0e02" + names,
        v1 + kind(4) + "0e01 050161",
        v1 + kind(0) + "0e00",
        v1 + kind(6) + "0e00",
        v1 + kind(1) + "0e00",
        v1 + kind(5) + "0e01 00",
        v1 + "00 00",
        std::string{"0e03 020000000000000002 00 00"},
        std::string{"00"},
        v1 + kind(1) + "0e03 050161 0e00 00",
        v1 + kind(1) + "0e03 050161 0e00 0e01 00",
        v1 + kind(1) + "0e03 050161 0e00 0e01 0e02 00 00",
        v1 + kind(1) + "0e03 050161 0e00 0e01 0e02 020000000000000001 00"})
    out.push_back(from_hex(hex));
  return out;
}

std::vector<std::string> words() {
  auto out = binary_words();
  for (const auto* hex :
       {"0e03020000000000000001020000000000000005", "0e03020000000000000001020000000000000001",
        "020000000000000002", "020000000000000003", "020000000000000004", "0e020501610e00"})
    out.push_back(from_hex(hex));
  return out;
}

} // namespace pubsub::fuzz
