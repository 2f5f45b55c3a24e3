// What an outside member of a running Zeek cluster has seen, from tests/data/golden.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/hex.hpp"

#include <simdjson.h>

namespace pubsub::test {

struct captured_message {
  std::string socket; ///< XPUB, XSUB, PULL, or sent-XPUB for what the member has sent itself
  std::vector<buffer> frames;
  std::string what;  ///< of a subscription: subscribe or unsubscribe; of a malformed one: the case
  std::string topic; ///< of subscriptions and events
  std::string sender;
  std::string format;
  bool answered = false; ///< a malformed one: the node has taken it all the same

  /// The frames as text.
  std::vector<std::string_view> texts() const {
    std::vector<std::string_view> result;
    for (const auto& each : frames)
      result.emplace_back(reinterpret_cast<const char*>(each.data()), each.size());
    return result;
  }
};

/// All messages of one list of the capture; throws where it cannot be read.
inline std::vector<captured_message> captured(const char* list) {
  simdjson::dom::parser parser;
  const simdjson::dom::object file =
      parser.load(std::string{PUBSUB_TEST_DATA "/golden/zeek_zeromq_cluster.json"});
  std::vector<captured_message> result;
  for (const auto each : file[list].get_array()) {
    const simdjson::dom::object object = each;
    const auto text = [&](const char* key) {
      std::string_view value;
      return object[key].get(value) == simdjson::SUCCESS ? std::string{value} : std::string{};
    };
    captured_message message{.socket = text("socket"),
                             .frames = {},
                             .what = text("what") + text("case"),
                             .topic = text("topic"),
                             .sender = text("sender"),
                             .format = text("format")};
    bool answered = false;
    message.answered = object["answered"].get(answered) == simdjson::SUCCESS && answered;
    for (const auto frame : object["frames"].get_array())
      message.frames.push_back(from_hex(std::string_view{frame.get_string()}));
    result.push_back(std::move(message));
  }
  return result;
}

inline constexpr const char* captured_sessions[] = {"with_real_logger",
                                                    "with_outside_member_as_logger"};

} // namespace pubsub::test
