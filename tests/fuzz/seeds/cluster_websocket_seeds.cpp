// Inputs that fuzz_cluster_websocket begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include "support/websocket_capture.hpp"

namespace pubsub::fuzz::cluster_websocket_seeds {

namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> out{"/v1/messages/json?token=a%20b\nBearer x, bearer.y",
                               "wss://[::1]:443/v1/messages/json"};
  for (const auto& conversation : test::captured_conversations())
    for (const auto& frame : conversation.frames)
      out.push_back(frame.text);
  return out;
}

std::vector<std::string> words() {
  return {"\"@data-type\":", "\"data\":",   "\"topic\":", "\"type\":",  "data-message", "\"ack\"",
          "\"error\"",       "\"context\"", "\"count\"",  "\"vector\"", "\"string\"",   "\"set\"",
          "\"table\"",       "\"key\":",    "\"value\":", "Bearer ",    "bearer.",      "?token=",
          "\\u0000",         "0x1",         "nan",        "timestamp",  "timespan",     "address",
          "subnet"};
}

const target_seeds announced{"cluster_websocket", seeds, words};

} // namespace

} // namespace pubsub::fuzz::cluster_websocket_seeds
