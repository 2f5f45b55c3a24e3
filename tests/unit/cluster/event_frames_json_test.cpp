// Messages of the event bus of ZeroMQ clusters; the file of captured ones is JSON.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/cluster_capture.hpp"

#include "cluster/event_frames.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::cluster;

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What is wrong with the frames; `none` where nothing is.
errc refusal_of(const std::vector<std::string_view>& frames) {
  const auto message = split_event(frames);
  if (!message)
    return message.error().code();
  std::vector<std::byte> buffer;
  const auto bytes = decode_event(*message, buffer);
  return bytes ? errc::none : bytes.error().code();
}

std::vector<std::byte> encoded(const data& x) {
  return *encode_binary(x);
}

} // namespace

TEST_CASE("every captured event is read, and written again byte for byte") {
  std::size_t events = 0;
  for (const auto* session : test::captured_sessions)
    for (const auto& message : test::captured(session)) {
      if (message.socket != "XSUB" && message.socket != "sent-XPUB")
        continue;
      const auto frames = message.texts();
      const auto event = split_event(frames);
      REQUIRE_MESSAGE(event, event.error().message());
      CHECK(event->serializer == event_serializer::broker_bin_v1);
      if (message.socket == "XSUB") {
        CHECK(event->topic == message.topic);
        CHECK(event->sender == message.sender);
        CHECK(name_of(event->serializer) == message.format);
      }
      std::vector<std::byte> buffer;
      const auto bytes = decode_event(*event, buffer);
      REQUIRE_MESSAGE(bytes, bytes.error().message());
      const auto view = data_view::from_valid(*bytes);
      CHECK_FALSE(zeek::view_event(view)->name().empty());
      std::string written;
      CHECK(encode_event(view, event_serializer::broker_bin_v1, written) == frames[3]);
      // The same event in JSON is read as the same value, as far as JSON can say it.
      const auto json = encode_event(view, event_serializer::broker_json_v1, written);
      REQUIRE(json);
      const std::vector<std::string_view> as_json{frames[0], frames[1], "broker-json-v1", *json};
      const auto again = decode_event(*split_event(as_json), buffer);
      REQUIRE_MESSAGE(again, again.error().message());
      CHECK(to_json(data_view::from_valid(*again)) == *json);
      ++events;
    }
  CHECK(events == 127);
}

TEST_CASE("every captured subscription is read") {
  std::size_t subscriptions = 0;
  for (const auto* session : test::captured_sessions)
    for (const auto& message : test::captured(session)) {
      if (message.socket != "XPUB")
        continue;
      REQUIRE(message.frames.size() == 1);
      const auto what = read_subscription(message.texts().front());
      REQUIRE(what);
      CHECK(what->added == (message.what == "subscribe"));
      CHECK(what->prefix == message.topic);
      ++subscriptions;
    }
  CHECK(subscriptions == 64);
}

TEST_CASE("malformed messages are refused, those that Zeek lets pass among them") {
  std::map<std::string, errc> refusals;
  for (const auto& message : test::captured("malformed_to_worker_2"))
    refusals[message.what] = refusal_of(message.texts());
  CHECK(refusals.size() == 18);
  CHECK(refusals["3 frames"] == errc::invalid_message);
  CHECK(refusals["5 frames"] == errc::invalid_message);
  CHECK(refusals["truncated"] == errc::end_of_file);
  CHECK(refusals["empty payload"] == errc::end_of_file);
  CHECK(refusals["trailing bytes"] == errc::invalid_data);
  for (const auto* no_event :
       {"type 4 envelope", "version 2", "event name no string", "args no vector",
        "content no vector", "vector of 2", "scalar", "empty vector"})
    CHECK_MESSAGE(refusals[no_event] == errc::invalid_message, no_event);
  // Only who declares the event can tell what is wrong with these.
  for (const auto* event : {"unknown event", "no args", "wrong type", "empty sender"})
    CHECK_MESSAGE(refusals[event] == errc::none, event);
}

TEST_CASE("what is wrong with a message is said") {
  const auto error_of = [](std::vector<std::string_view> frames) {
    return split_event(frames).error().message();
  };
  CHECK(error_of({"a", "b"}) == "invalid_message: an event has four frames, and not 2");
  CHECK(error_of({"a", "b", "nonsense", "c"}) ==
        "not_supported: an event in an unknown format: nonsense");
  CHECK(error_of({std::string_view{"a\0b", 3}, "b", "broker-bin-v1", "c"}) ==
        "invalid_message: a topic with a NUL byte");
  const std::vector<std::string_view> no_json{"a", "b", "broker-json-v1", "{"};
  CHECK(refusal_of(no_json) == errc::invalid_json);
}

TEST_CASE("a value that is no event is not sent") {
  std::string buffer;
  const auto bytes = encoded(vector{count{1}, count{2}, vector{}});
  CHECK_FALSE(encode_event(data_view::from_valid(bytes), event_serializer::broker_bin_v1, buffer));
  const auto event = encoded(zeek::make_event("e", vector{count{1}}));
  CHECK(encode_event(data_view::from_valid(event), event_serializer::broker_bin_v1, buffer) ==
        text_of(event));
}

TEST_CASE("what is no subscription is none") {
  CHECK_FALSE(read_subscription(""));
  CHECK_FALSE(read_subscription("\2topic"));
  CHECK(read_subscription(std::string_view{"\0", 1})->prefix.empty());
}
