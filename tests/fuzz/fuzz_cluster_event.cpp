// Any frames on the event bus of a ZeroMQ cluster: refused, or an event that is written again as it
// was. Frames are separated by two bytes, ff and 00.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "cluster/event_frames.hpp"
#include "cluster/interests.hpp"
#include "cluster/topic_names.hpp"

#include <pubsub/format.hpp>

#include <string_view>
#include <vector>

namespace pubsub::fuzz {

namespace {

using namespace cluster;

std::vector<std::string_view> split(std::string_view input) {
  constexpr std::string_view between{"\xff\0", 2};
  std::vector<std::string_view> frames;
  while (frames.size() < 8) {
    const auto end = input.find(between);
    frames.push_back(input.substr(0, end));
    if (end == std::string_view::npos)
      break;
    input.remove_prefix(end + between.size());
  }
  return frames;
}

void try_topic(std::string_view topic) {
  const auto outside = to_outside(topic, topic_names::mapped);
  check(outside.size() == topic.size(), "a topic keeps its length");
  check(to_outside(outside, topic_names::mapped) == outside, "it is renamed once");
  check(!prefixes_in_cluster(topic, topic_names::mapped).empty(), "a prefix brings something");
}

void try_input(std::string_view input) {
  const auto frames = split(input);
  try_topic(frames.front());
  if (const auto what = read_subscription(frames.front())) {
    interests all;
    check(all.note(*what) == what->added, "the first of its prefix is news");
  }
  const auto message = split_event(frames);
  if (!message)
    return;
  std::vector<std::byte> decoded;
  const auto bytes = decode_event(*message, decoded);
  if (!bytes)
    return;
  const auto view = data_view::make(*bytes);
  check(view.has_value(), "what is decoded is valid");
  std::string buffer;
  const auto binary = encode_event(*view, event_serializer::broker_bin_v1, buffer);
  check(binary.has_value(), "an event is written");
  if (message->serializer == event_serializer::broker_bin_v1)
    check(*binary == message->payload, "an event is written as it was");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
