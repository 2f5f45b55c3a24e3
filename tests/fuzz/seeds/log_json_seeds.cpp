// Inputs that fuzz_log_json begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::log_json_seeds {

namespace {

std::vector<std::string> seeds() {
  return {
      R"({"_path":"conn","ts":1795196530.397694,"uid":"C3","id.orig_h":"10.20.0.25","id.orig_p":37021,"proto":"tcp","duration":0.5})"
      "\n"
      R"({"ts":"2023-11-14T22:13:20.000001Z","id.orig_h":"x","n":-7,"r":1.5,"set":["a",1,null],"o":{"a":{"b":true}},"z":null})"
      "\n"
      R"({"ts":1e999,"duration":-1.25,"host":"::1","rx_hosts":["1.2.3.4"],"port":65536,"id.resp_p":53,"proto":"udp"})",
      "{\"n\":1}\n{\"n\":-1}\n{\"n\":1.5}\n{\"n\":\"x\"}\n{\"n\":true}\n{\"n\":"
      "18446744073709551615}\n{\"n\":[]}\n",
      "[]\nx\n{\n{}\n\n{\"a\":\"\\ud83d\\ude00\\u0000\\n\"}\n{\"_path\":7}\n{\"a\":1,\"a\":2}\n",
      "{\"lease_time\":\"x\",\"last_active\":7,\"not_valid_after\":1.5,\"t\":\"2023-02-30T00:00:"
      "00Z\",\"x_ts\":1}\n"
      "{\"t\":\"2023-11-14T22:13:20.000001Z\",\"tx_addr\":\"10.0.0.1\",\"x_ip\":\"fe80::1\",\"x_"
      "p\":-1}\n"};
}

std::vector<std::string> words() {
  return {"{",
          "}",
          "[",
          "]",
          ":",
          ",",
          "\"",
          "\"ts\":",
          "\"proto\":\"udp\"",
          "\"id.orig_h\":",
          "\"id.orig_p\":",
          "\"duration\":",
          "\"_path\":",
          "null",
          "true",
          "false",
          "-1",
          "1.5",
          "1e999",
          "\\u0000",
          "\\ud800",
          "\n",
          "\"2023-11-14T22:13:20Z\"",
          "\"10.0.0.1\"",
          "18446744073709551615",
          "\xff"};
}

const target_seeds announced{"log_json", seeds, words};

} // namespace

} // namespace pubsub::fuzz::log_json_seeds
