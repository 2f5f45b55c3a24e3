// Inputs that fuzz_json begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::json_seeds {

namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  for (const auto* file : {"data_bin_v1.json", "zeek_messages.json"})
    for (const auto& each : test::load_golden(file)) {
      out.push_back(each.json);
      if (!each.json_message.empty())
        out.push_back(each.json_message);
    }
  const auto value = [&](const std::string& type, const std::string& text) {
    out.push_back("{\"@data-type\":\"" + type + "\",\"data\":" + text + "}");
  };
  for (const auto* time : {"\"2018-07-05T19:46:40\"", "\"2018-07-05T19:46:40.123456789Z\"",
                           "\"2020-02-29T23:59:59+01:30\"", "\"1900-02-29T00:00:00\"",
                           "\"2018-07-05T19:46:40-0130\"", "\"1969-12-31T23:59:59.5+01\""})
    value("timestamp", time);
  for (const auto* span :
       {"\"3min\"", "\"-2h\"", "\"1us\"", "\"7ns\"", "\"99999999999h\"", "\"5d\""})
    value("timespan", span);
  for (const auto* number :
       {"+0x1F", "-010", "0b101", ".5", "5.", "1e5", "nan", "-inf", "1e999", "0x", "1_0"})
    for (const auto* type : {"count", "integer", "real"})
      value(type, number);
  for (const auto* port : {"\"80\"", "\"x/tcp\"", "\"99999/icmp\"", "\"1/??\""})
    value("port", port);
  for (const auto* subnet :
       {"\"10.0.0.0/8\"", "\"::1/ 200x\"", "\"1.2.3.4/33\"", "\"1::/129\"", "\"x/1\""})
    value("subnet", subnet);
  for (const auto* address :
       {"\"::ffff:1.2.3.4\"", "\"1:2:3:4:5:6:7:8\"", "\"1::2::3\"", "\"1.2.3\"", "\"::1.2.3.256\""})
    value("address", address);
  value("string", "\"\\ud83d\\ude00\\u0000\\v\\/\\x \xff\x01\"");
  out.push_back("{\"data\":[],\"x\":{\"y\":[1,true,null,\"\"]},\"@data-type\":\"set\",\"@data-"
                "type\":\"none\"}\n\t ");
  return out;
}

std::vector<std::string> words() {
  std::vector<std::string> out{"nan",
                               "-inf",
                               "0x",
                               "0b1",
                               "010",
                               ".5",
                               "5.",
                               "+1",
                               "1e999",
                               "\\u0000",
                               "\\ud83d\\ude00",
                               "\\ud800",
                               "\\v",
                               "\\",
                               "\"",
                               "{",
                               "}",
                               "[",
                               "]",
                               ",",
                               ":",
                               "\xff",
                               "null",
                               "true",
                               "false",
                               "{\"@data-type\":\"none\"}",
                               "\"data\":",
                               "\"key\":",
                               "\"value\":",
                               "\"topic\":",
                               "18446744073709551616",
                               "\xc4\x80",
                               "\r",
                               "T19:46:40",
                               "+01:30",
                               "/tcp",
                               "::"};
  for (const auto* type :
       {"none", "boolean", "count", "integer", "real", "string", "address", "subnet", "port",
        "timestamp", "timespan", "enum-value", "set", "table", "vector"})
    out.push_back("\"@data-type\":\"" + std::string{type} + "\"");
  return out;
}

const target_seeds announced{"json", seeds, words};

} // namespace

} // namespace pubsub::fuzz::json_seeds
