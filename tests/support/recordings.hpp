// Recordings for tests: messages to write, and what a reader finds.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/record/reader.hpp>
#include <pubsub/record/writer.hpp>

namespace pubsub::test {

/// What is compared: all of a message but the memory it lies in.
struct kept_message {
  std::string topic;
  std::string payload;
  std::string encoding;
  timestamp log_time;
  timestamp publish_time;
  std::optional<message_origin> origin;
  std::uint64_t sequence = 0;

  friend bool operator==(const kept_message&, const kept_message&) = default;
};

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline kept_message keep(const record::message& x) {
  return {std::string{x.topic},
          text_of(x.payload),
          std::string{x.encoding},
          x.log_time,
          x.publish_time,
          x.origin,
          x.sequence};
}

/// Everything that can be read, and how reading went.
struct read_recording {
  std::vector<kept_message> messages;
  std::vector<error> errors;
  std::string damage;
  bool indexed = false;
};

inline read_recording read_all(const std::string& path, record::reader_options options = {}) {
  read_recording result;
  auto reader = record::reader::open(path, std::move(options));
  if (!reader) {
    result.errors.push_back(reader.error());
    return result;
  }
  result.indexed = reader->indexed();
  for (;;) {
    const auto msg = reader->next();
    if (!msg)
      result.errors.push_back(msg.error());
    else if (!*msg)
      break;
    else
      result.messages.push_back(keep(**msg));
  }
  result.damage = reader->damage();
  return result;
}

inline timestamp at_second(double seconds) {
  return timestamp{timespan{static_cast<std::int64_t>(seconds * 1e9)}};
}

inline record::message recorded(std::string_view topic, std::string_view payload, double second) {
  record::message x;
  x.topic = topic;
  x.payload = std::as_bytes(std::span{payload});
  x.log_time = at_second(second);
  x.publish_time = x.log_time;
  return x;
}

/// Messages as a subscriber gets them: published encoded, so that they have an origin.
inline std::vector<data_message> published_messages(std::size_t n,
                                                    const std::vector<std::string>& topics) {
  endpoint ep;
  auto sub = ep.make_subscriber({topic{""}});
  std::vector<publisher> publishers;
  for (const auto& each : topics)
    publishers.push_back(ep.make_publisher(each));
  data_writer writer;
  for (std::size_t i = 0; i < n; ++i) {
    writer.clear();
    writer.write_string("message " + std::to_string(i));
    REQUIRE(publishers[i % topics.size()].publish(writer.bytes()) == publish_result::taken);
  }
  auto batch = sub.try_get_batch();
  REQUIRE(batch);
  REQUIRE(batch->size() == n);
  return std::move(*batch);
}

inline std::string file_content(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

inline void write_file(const std::string& path, std::string_view content) {
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
}

} // namespace pubsub::test
