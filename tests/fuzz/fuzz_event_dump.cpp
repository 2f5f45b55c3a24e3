// Any text as a dump of events.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <pubsub/zeek/event.hpp>

#include "zeek_logs/event_dump.hpp"

namespace pubsub::fuzz {

namespace {

void try_event(zeek::dumped_event x) {
  const auto name = x.name;
  check(!name.empty(), "an event has a name");
  check(zeek::event_topic(name).ends_with(name), "the topic tells the name");
  const auto args = x.args.size();
  const auto made = zeek::make_event(std::move(x.name), std::move(x.args), x.time);
  const auto event = zeek::parse_event(made);
  check(event && event->name == name && event->args.size() == args, "it is an event");
  check_bytes_give_back(made);
}

void try_input(std::span<const std::byte> bytes) {
  const memory_bound bound{8 * 1024 * 1024 + 16 * 1024 * bytes.size()};
  zeek::event_dump_parser parser;
  std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto event = parser.parse(line);
    if (!event)
      check(!event.error().context().empty(), "an error says what is wrong");
    else if (*event)
      try_event(std::move(**event));
  }
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
