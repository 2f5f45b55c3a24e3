// Inputs that fuzz_inquiry begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/ids.hpp"
#include "fuzz/seeds/seeds.hpp"

#include "wire/native/inquiry.hpp"

namespace pubsub::fuzz::inquiry_seeds {

namespace {

std::string payload_of(const std::vector<std::byte>& frame) {
  return {reinterpret_cast<const char*>(frame.data()) + 4, frame.size() - 4};
}

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  for (const auto subject : {wire::inquiry_subject::status, wire::inquiry_subject::network})
    out.push_back(
        payload_of(wire::make_inquiry({.number = 7, .subject = subject, .node = id_of(1)})));
  wire::inquiry traced{.number = 8, .subject = wire::inquiry_subject::trace};
  traced.topic = "/a";
  out.push_back(payload_of(wire::make_inquiry(traced)));
  traced.destinations = {{id_of(1), 4, {}}, {id_of(2), destination::addressed, id_of(3)}};
  out.push_back(payload_of(wire::make_inquiry(traced)));
  out.push_back(payload_of(wire::make_reply({.number = 7, .body = "{}"})));
  for (const auto size : {wire::max_reply_bytes, wire::max_reply_bytes + 1})
    out.push_back(payload_of(wire::make_reply({.number = 7, .body = std::string(size, 'x')})));
  const auto late = wire::reply_outcome::too_late;
  out.push_back(payload_of(wire::make_reply({.number = 7, .outcome = late, .body = "late"})));
  const trace_hop hop{.node = id_of(1), .name = "a", .from = id_of(2), .remarks = {"\xc3\xa4", ""}};
  out.push_back(wire::write_hops(std::vector{hop, hop}, 1'000));
  return out;
}

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (const auto* hex : {"10", "11", "ffffffff", "fffffffffffffffe", "c3a4", "eda080", "ff"})
    out.push_back(from_hex(hex));
  return out;
}

const target_seeds announced{"inquiry", seeds, words};

} // namespace

} // namespace pubsub::fuzz::inquiry_seeds
