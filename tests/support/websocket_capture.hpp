// Conversations with the WebSocket server of a running Zeek, from tests/data/golden.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/hex.hpp"

#include <simdjson.h>

namespace pubsub::test {

struct captured_frame {
  bool from_client = false;
  bool binary = false;
  std::string text; ///< its bytes, as they were
};

struct captured_conversation {
  std::string backend; ///< of the cluster: zeromq or broker
  std::string name;
  std::vector<captured_frame> frames;
};

/// All that got through the handshake; throws where they cannot be read.
inline std::vector<captured_conversation> captured_conversations() {
  constexpr std::string_view binary = "binary:";
  simdjson::dom::parser parser;
  const simdjson::dom::object file =
      parser.load(std::string{PUBSUB_TEST_DATA "/golden/zeek_websocket_sessions.json"});
  std::vector<captured_conversation> result;
  for (const auto backend : file)
    for (const auto each : backend.value.get_array()) {
      captured_conversation conversation{
          std::string{backend.key}, std::string{each["case"].get_string().value()}, {}};
      simdjson::dom::array frames;
      if (each["frames"].get(frames) != simdjson::SUCCESS)
        continue;
      for (const simdjson::dom::array frame : frames) {
        const std::string_view text = frame.at(1).get_string();
        const bool is_binary = text.starts_with(binary);
        std::string_view hex; // of a text that is not UTF-8
        if (is_binary)
          hex = text.substr(binary.size());
        else if (frame.at(2).get(hex) != simdjson::SUCCESS)
          hex = {};
        conversation.frames.push_back({frame.at(0).get_string().value() == "client", is_binary,
                                       hex.empty() ? std::string{text} : text_from_hex(hex)});
      }
      result.push_back(std::move(conversation));
    }
  return result;
}

} // namespace pubsub::test
