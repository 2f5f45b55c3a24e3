// Any text as a dump of events.
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/event_dump.hpp>

namespace pubsub::fuzz {

namespace {

void try_event(zeek::dumped_event x) {
  const auto name = x.name;
  check(!name.empty(), "an event has a name");
  check(zeek::event_topic(name).ends_with(name), "the topic tells the name");
  const auto args = x.args.size();
  const auto made = zeek::make_dumped_event(std::move(x));
  const auto event = zeek::parse_event(made);
  check(event && event->name == name && event->args.size() == args, "it is an event");
  check_bytes_give_back(made);
}

} // namespace

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

std::vector<std::string> seeds() {
  return {
      R"({"ts":1254722767.5,"event":"new_connection","args":{"c":{"id":{"orig_h":"10.0.0.1","orig_p":{"port":53,"proto":"udp"}},)"
      R"("start_time":1254722767.5,"duration":"2.0 mins 1.5 secs","service":["A::B","x"],"n":-1,"r":1.5,"b":true,"z":null}}})",
      "{}\n[]\nx\n\n{\"ts\":1.0}\n{\"event\":\"\"}\n{\"event\":7}\n{\"event\":\"e\",\"ts\":\"x\"}"
      "\n{\"event\":\"e\",\"args\":[1]}\n",
      "{\"event\":\"e\"}\n{\"event\":\"e\",\"args\":{},\"ts\":-1.5}\n{\"event\":\"e\",\"args\":{"
      "\"a\":\"3 days 1 hr\",\"p\":{\"port\":70000,"
      "\"proto\":\"tcp\"},\"q\":{\"port\":1,\"proto\":\"x\"},\"e\":\"Analyzer::ANALYZER_SMTP\","
      "\"s\":\"a b\"}}\n"
      "{\"event\":\"e\",\"args\":{\"a\":\"1 msec\",\"b\":\"5 usecs 2 x\",\"c\":\"-1 "
      "sec\",\"d\":\"1.2.3.4/8\",\"f\":\"::\"}}\n"};
}

std::vector<std::string> words() {
  return {"{",          "}",         "[",
          "]",          ":",         ",",
          "\"",         "\"ts\":",   "\"event\":\"e\"",
          "\"args\":{", "\"port\":", "\"proto\":\"udp\"",
          "2.0 mins",   " 1.5 secs", "days",
          "hrs",        "usecs",     "msecs",
          "A::B",       "null",      "true",
          "1e999",      "-1",        "\\ud800",
          "\n",         "10.0.0.1",  "\xff"};
}

} // namespace pubsub::fuzz
