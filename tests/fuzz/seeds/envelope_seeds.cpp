// Inputs that fuzz_envelope begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include "wire/broker/envelope.hpp"

namespace pubsub::fuzz::envelope_seeds {

namespace {

std::vector<std::string> seeds() {
  auto result = golden_bytes({"wire_messages.json"});
  const auto probe = wire::make_circle_probe({}, "/t");
  const auto payload = std::span{probe}.subspan(wire::frame_header_bytes);
  result.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
  return result;
}

std::vector<std::string> words() {
  return binary_words();
}

const target_seeds announced{"envelope", seeds, words};

} // namespace

} // namespace pubsub::fuzz::envelope_seeds
