// Inputs that fuzz_filter begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::filter_seeds {

namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  for (const auto& each : golden_bytes({"wire_messages.json"})) {
    out.push_back(each.substr(std::min<std::size_t>(1, each.size())));  // of a syn
    out.push_back(each.substr(std::min<std::size_t>(40, each.size()))); // of an update
  }
  out.push_back(from_hex("04 022f62 022f61 032f6162 00"));
  out.push_back(from_hex("03 0161 0161 026162"));
  return out;
}

std::vector<std::string> words() {
  return binary_words();
}

const target_seeds announced{"filter", seeds, words};

} // namespace

} // namespace pubsub::fuzz::filter_seeds
