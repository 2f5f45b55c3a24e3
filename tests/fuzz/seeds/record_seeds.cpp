// Inputs that fuzz_record begins with: recordings with and without compression, index and gaps.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include <fstream>
#include <iterator>

#include <pubsub/binary.hpp>
#include <pubsub/record/writer.hpp>

#include "support/memory_file.hpp"

namespace pubsub::fuzz::record_seeds {

namespace {

std::string content_of(const test::memory_file& file) {
  std::ifstream in{file.path(), std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string recording(int level, record::payload_format format, bool whole) {
  const test::memory_file file;
  record::writer_options options;
  options.existing = record::existing_file::replace;
  options.chunks.compression_level = level;
  options.chunks.format = format;
  options.chunks.about = {{"site", "north"}};
  auto writer = record::writer::open(file.path(), options);
  if (!writer)
    return {};
  for (std::uint64_t i = 0; i < 4; ++i) {
    record::message msg;
    const auto value = encode_binary(data{i});
    msg.topic = i % 2 == 0 ? "/even" : "/odd\xff";
    msg.payload = *value;
    msg.log_time = msg.publish_time = timestamp{std::chrono::seconds{i}};
    msg.origin = message_origin{endpoint_id{}, 1, i << 31};
    (void)writer->write(msg);
    (void)writer->write(make_data_message("/built", data{"x"}), msg.log_time);
    writer->note({.missed = i, .dropped = 0}, msg.log_time);
  }
  (void)writer->flush();
  auto text = content_of(file);
  (void)writer->close();
  return whole ? content_of(file) : text;
}

std::vector<std::string> seeds() {
  std::vector<std::string> out;
  for (const int level : {0, 1})
    for (const bool whole : {true, false})
      for (const auto format : {record::payload_format::binary, record::payload_format::json})
        out.push_back(recording(level, format, whole));
  return out;
}

std::vector<std::string> words() {
  return {"\x89MCAP0\r\n",
          "zstd",
          "lz4",
          "origin",
          "stream",
          "sequence_upper_half",
          "topic_hex",
          "pubsub.gap",
          "x-pubsub-bin-v1",
          "json",
          from_hex("ffffffffffffffff"),
          from_hex("0600000000000000"),
          from_hex("28b52ffd"),
          from_hex("0214000000000000")};
}

const target_seeds announced{"record", seeds, words};

} // namespace

} // namespace pubsub::fuzz::record_seeds
