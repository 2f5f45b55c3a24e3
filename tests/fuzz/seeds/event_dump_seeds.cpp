// Inputs that fuzz_event_dump begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::event_dump_seeds {

namespace {

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

const target_seeds announced{"event_dump", seeds, words};

} // namespace

} // namespace pubsub::fuzz::event_dump_seeds
