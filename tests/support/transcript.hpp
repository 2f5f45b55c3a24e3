// Whole conversations between two running Brokers, as tests read them from tests/data/golden.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "support/hex.hpp"

#include <pubsub/value/endpoint_id.hpp>

#include <simdjson.h>

namespace pubsub::test {

struct transcript_frame {
  bool from_connector = false;
  buffer bytes; ///< length prefix included; empty at the end of the stream
  std::string meaning;
};

struct transcript {
  std::string scenario;
  std::string link; ///< which connection, where a scenario has two
  std::vector<transcript_frame> frames;
};

/// Whole frames that lie in one buffer, one by one.
inline std::vector<buffer> split_frames(const buffer& bytes) {
  std::vector<buffer> out;
  for (auto pos = bytes.begin(); bytes.end() - pos >= 4;) {
    const auto end = pos + 4 + load_be<std::uint32_t>(&*pos);
    out.emplace_back(pos, end);
    pos = end;
  }
  return out;
}

/// Every conversation in a file of the golden data.
inline std::vector<transcript>
load_transcripts(std::string_view file = "peering_transcripts_all.json") {
  simdjson::dom::parser parser;
  const simdjson::dom::array all =
      parser.load(std::string{PUBSUB_TEST_DATA "/golden/"} + std::string{file});
  std::vector<transcript> out;
  for (const simdjson::dom::object each : all) {
    const std::string_view name = each["scenario"];
    const std::string_view connection = each["link"];
    transcript script{std::string{name}, std::string{connection}, {}};
    for (const simdjson::dom::object item : each["frames"].get_array()) {
      const std::string_view direction = item["dir"];
      const std::string_view hex = item["hex"];
      const std::string_view meaning = item["meaning"];
      const auto bytes = from_hex(hex);
      const auto frames = split_frames(bytes); // two may have been read at once
      if (frames.empty())
        script.frames.push_back({direction == "c2s", bytes, std::string{meaning}});
      for (const auto& frame : frames)
        script.frames.push_back({direction == "c2s", frame, std::string{meaning}});
    }
    out.push_back(std::move(script));
  }
  return out;
}

/// The conversation named `scenario` (and `link`, if given); throws where there is none.
inline transcript load_transcript(std::string_view scenario, std::string_view link = {}) {
  for (auto& each : load_transcripts())
    if (each.scenario == scenario && (link.empty() || each.link == link))
      return std::move(each);
  throw std::runtime_error{"no transcript " + std::string{scenario}};
}

/// The ids Broker was given when the transcripts were taken.
inline endpoint_id golden_id(char digit) {
  std::string text = "11111111-1111-4111-8111-111111111111";
  if (digit != '1')
    text = std::string(8, digit) + "-" + std::string(4, digit) + "-4" + std::string(3, digit) +
           "-8" + std::string(3, digit) + "-" + std::string(12, digit);
  return *endpoint_id::parse(text);
}

} // namespace pubsub::test
