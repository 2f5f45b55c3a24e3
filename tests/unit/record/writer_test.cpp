// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <filesystem>

#include <pubsub/format.hpp>
#include <pubsub/record/summary.hpp>
#include <pubsub/zeek/event.hpp>

#include "support/recordings.hpp"
#include "support/temporary_folder.hpp"

using namespace pubsub;
using namespace pubsub::test;

namespace {

record::writer open_writer(const std::string& path, record::writer_options options = {}) {
  auto writer = record::writer::open(path, std::move(options));
  REQUIRE_MESSAGE(writer, path);
  return std::move(*writer);
}

record::summary summary_of(const std::string& path) {
  auto found = record::summarize(path);
  REQUIRE_MESSAGE(found, path);
  return std::move(*found);
}

std::vector<kept_message> expected_of(const std::vector<data_message>& messages, timestamp when) {
  std::vector<kept_message> result;
  for (const auto& msg : messages)
    result.push_back({std::string{get_topic(msg)}, text_of(get_view(msg).bytes()),
                      std::string{record::binary_encoding}, when, when, get_origin(msg),
                      get_origin(msg)->sequence});
  return result;
}

} // namespace

TEST_CASE("what is recorded is read back: values, order, origins, numbers and times") {
  for (const int level : {0, 1, 9})
    for (const std::size_t chunk_bytes : {1024, 1024 * 1024}) {
      temporary_folder folder;
      const auto path = folder / "a.mcap";
      const auto messages = published_messages(1000, {"/a", "/b", "/b/c"});
      record::writer_options options;
      options.chunks.compression_level = level;
      options.chunks.chunk_bytes = chunk_bytes;
      auto writer = open_writer(path, options);
      REQUIRE(writer.write(messages, at_second(5)));
      REQUIRE(writer.close());
      CHECK(writer.totals().messages == 1000);
      CHECK(writer.totals().file_bytes == std::filesystem::file_size(path));
      const auto found = read_all(path);
      CHECK(found.messages == expected_of(messages, at_second(5)));
      CHECK(found.errors.empty());
      CHECK(found.damage.empty());
      CHECK(found.indexed);
    }
}

TEST_CASE("numbers of 64 bits and topics that are not UTF-8 survive, and so do other encodings") {
  temporary_folder folder;
  const auto path = folder / "a.mcap";
  auto first = recorded("/\xff\x01topic", "payload", 1);
  first.origin = message_origin{endpoint_id::random(), 0xffff'fffe, 0x1234'5678'9abc'def0};
  first.sequence = first.origin->sequence;
  first.publish_time = at_second(0.5);
  auto second = first;
  second.origin->sequence = second.sequence = 0x1234'5679'0000'0000;
  auto third = recorded("/other", "?", 2);
  third.encoding = "cdr";
  third.sequence = 77;
  {
    auto writer = open_writer(path);
    for (const auto& each : {first, second, third})
      REQUIRE(writer.write(each));
  } // the destructor closes
  const auto found = read_all(path);
  CHECK(found.messages == std::vector{keep(first), keep(second), keep(third)});
  CHECK(found.indexed);
}

TEST_CASE("a message without an origin gets a number on its topic") {
  temporary_folder folder;
  auto writer = open_writer(folder / "a.mcap");
  for (const auto* topic : {"/a", "/b", "/a"})
    REQUIRE(writer.write(make_data_message(topic, data{"x"}), at_second(1)));
  REQUIRE(writer.close());
  const auto found = read_all(folder / "a.mcap");
  REQUIRE(found.messages.size() == 3);
  CHECK_FALSE(found.messages[0].origin);
  CHECK(found.messages[0].sequence == 0);
  CHECK(found.messages[1].sequence == 0);
  CHECK(found.messages[2].sequence == 1);
}

TEST_CASE("a Zeek event was published at its network time") {
  temporary_folder folder;
  auto writer = open_writer(folder / "a.mcap");
  REQUIRE(
      writer.write(make_data_message("/e", zeek::make_event("e", {}, at_second(3))), at_second(9)));
  REQUIRE(writer.write(make_data_message("/e", zeek::make_event("e", {})), at_second(9)));
  REQUIRE(writer.close());
  const auto found = read_all(folder / "a.mcap");
  REQUIRE(found.messages.size() == 2);
  CHECK(found.messages[0].publish_time == at_second(3));
  CHECK(found.messages[0].log_time == at_second(9));
  CHECK(found.messages[1].publish_time == at_second(9));
}

TEST_CASE("a clock that is set back does not change the order") {
  temporary_folder folder;
  auto writer = open_writer(folder / "a.mcap");
  for (const double second : {5.0, 3.0, 6.0})
    REQUIRE(writer.write(recorded("/a", "x", second)));
  REQUIRE(writer.close());
  const auto found = read_all(folder / "a.mcap");
  REQUIRE(found.messages.size() == 3);
  CHECK(found.messages[1].log_time == at_second(5));
  CHECK(found.messages[2].log_time == at_second(6));
}

TEST_CASE("as JSON a message is text that tells its topic and value") {
  temporary_folder folder;
  const auto path = folder / "a.mcap";
  record::writer_options options;
  options.chunks.format = record::payload_format::json;
  auto writer = open_writer(path, options);
  REQUIRE(writer.write(make_data_message("/a", data{42U}), at_second(1)));
  REQUIRE(writer.close());
  const auto found = read_all(path);
  REQUIRE(found.messages.size() == 1);
  CHECK(found.messages[0].encoding == record::json_encoding);
  CHECK(found.messages[0].payload ==
        R"({"type":"data-message","topic":"/a","@data-type":"count","data":42})");
  CHECK(file_content(path).find("jsonschema") != std::string::npos);
}

TEST_CASE("files are split by size, and together they hold everything in order") {
  temporary_folder folder;
  record::writer_options options;
  options.chunks.compression_level = 0;
  options.chunks.chunk_bytes = 1024;
  options.split_bytes = 16 * 1024;
  const auto messages = published_messages(500, {"/a"});
  auto writer = open_writer(folder / "a.mcap", options);
  REQUIRE(writer.write(messages, at_second(1)));
  REQUIRE(writer.close());
  std::vector<kept_message> found;
  CHECK(writer.totals().files > 2);
  for (std::uint64_t i = 1; i <= writer.totals().files; ++i) {
    const auto part = read_all(folder / ("a-000" + std::to_string(i) + ".mcap"));
    CHECK(part.indexed);
    found.insert(found.end(), part.messages.begin(), part.messages.end());
  }
  CHECK(found == expected_of(messages, at_second(1)));
  CHECK_FALSE(std::filesystem::exists(folder / "a.mcap"));
}

TEST_CASE("files are split by time, at the message that comes so long after the first one") {
  temporary_folder folder;
  record::writer_options options;
  options.split_time = std::chrono::seconds{10};
  auto writer = open_writer(folder / "a.mcap", options);
  for (const double second : {0.0, 9.9, 10.0, 19.9, 40.0})
    REQUIRE(writer.write(recorded("/a", "x", second)));
  REQUIRE(writer.close());
  CHECK(writer.totals().files == 3);
  CHECK(read_all(folder / "a-0001.mcap").messages.size() == 2);
  CHECK(read_all(folder / "a-0002.mcap").messages.size() == 2);
  CHECK(read_all(folder / "a-0003.mcap").messages.size() == 1);
}

TEST_CASE("a file that is there is not overwritten unless that is wanted") {
  temporary_folder folder;
  write_file(folder / "a.mcap", "mine");
  write_file(folder / "a-0001.mcap", "mine");
  auto refused = record::writer::open(folder / "a.mcap");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == errc::cannot_write_file);
  CHECK(refused.error().context().find("a.mcap: File exists") != std::string::npos);
  record::writer_options options;
  options.split_bytes = 1'000'000;
  CHECK(open_writer(folder / "a.mcap", options).path() == folder / "a-0002.mcap");
  CHECK(file_content(folder / "a-0001.mcap") == "mine");
  record::writer_options replacing;
  replacing.existing = record::existing_file::replace;
  open_writer(folder / "a.mcap", replacing);
  CHECK(read_all(folder / "a.mcap").indexed);
}

TEST_CASE("more channels than a file can have go on in the next file") {
  temporary_folder folder;
  constexpr int topics = 70'000;
  auto writer = open_writer(folder / "a.mcap");
  for (int i = 0; i < topics; ++i)
    REQUIRE(writer.write(recorded("/" + std::to_string(i), "x", 1)));
  REQUIRE(writer.close());
  CHECK(writer.totals().files == 2);
  auto found = read_all(folder / "a.mcap").messages;
  CHECK(found.size() == 65'535);
  const auto rest = read_all(folder / "a-0002.mcap").messages;
  found.insert(found.end(), rest.begin(), rest.end());
  REQUIRE(found.size() == topics);
  for (int i = 0; i < topics; ++i)
    REQUIRE(found[static_cast<std::size_t>(i)].topic == "/" + std::to_string(i));
}

TEST_CASE("a chunk ends by time, and with a flush") {
  temporary_folder folder;
  auto writer = open_writer(folder / "a.mcap");
  REQUIRE(writer.write(recorded("/a", "1", 1)));
  REQUIRE(writer.write(recorded("/a", "2", 1.9)));
  CHECK(read_all(folder / "a.mcap").messages.empty());
  REQUIRE(writer.write(recorded("/a", "3", 2)));
  CHECK(read_all(folder / "a.mcap").messages.size() == 2);
  REQUIRE(writer.flush());
  const auto found = read_all(folder / "a.mcap");
  CHECK(found.messages.size() == 3);
  CHECK_FALSE(found.indexed);
  CHECK(found.damage == "the file has no end");
}

TEST_CASE("a summary tells topics, streams, gaps and sizes, with an index and without one") {
  temporary_folder folder;
  record::writer_options options;
  options.chunks.about = {{"site", "north"}};
  auto writer = open_writer(folder / "a.mcap", options);
  REQUIRE(writer.write(published_messages(10, {"/a", "/b"}), at_second(1)));
  writer.note({.missed = 3, .dropped = 4}, at_second(1.5));
  REQUIRE(writer.write(published_messages(5, {"/a"}), at_second(2.5)));
  REQUIRE(writer.flush());
  const auto growing = summary_of(folder / "a.mcap");
  writer.note({.missed = 1}, at_second(3));
  REQUIRE(writer.close());
  CHECK(writer.totals().missing == record::gap{4, 4});
  const auto whole = summary_of(folder / "a.mcap");
  CHECK_FALSE(growing.indexed);
  CHECK(whole.indexed);
  CHECK(growing.gaps.size() == 1);
  CHECK(whole.gaps.size() == 2);
  for (const auto& each : {growing, whole}) {
    CHECK(each.library.starts_with("libpubsub "));
    CHECK(each.messages == 15);
    CHECK(each.chunks == 2);
    CHECK(each.compression == "zstd");
    CHECK(each.uncompressed_bytes > each.compressed_bytes);
    CHECK(each.first == at_second(1));
    CHECK(each.last == at_second(2.5));
    REQUIRE(each.topics.size() == 2);
    CHECK(each.topics[0].topic == "/a");
    CHECK(each.topics[0].messages == 10);
    CHECK(each.topics[0].streams == 2);
    CHECK(each.topics[1].messages == 5);
    CHECK(each.gaps[0].missing == record::gap{3, 4});
    CHECK(each.gaps[0].when == at_second(1.5));
    CHECK(each.about.at("site") == "north");
  }
  CHECK(whole.damage.empty());
  CHECK(growing.damage == "the file has no end");
}

TEST_CASE("a disk that is full is an error that says so") {
  record::writer_options options;
  options.existing = record::existing_file::replace;
  const auto full = record::writer::open("/dev/full", options);
  REQUIRE_FALSE(full);
  CHECK(full.error() == errc::cannot_write_file);
  CHECK(full.error().context() == "/dev/full: No space left on device");
}

TEST_CASE("options out of range and files that cannot be written are errors") {
  record::writer_options options;
  options.chunks.chunk_bytes = 5;
  CHECK(record::writer::open("/nonexistent/a.mcap", options).error() == errc::invalid_argument);
  const auto nowhere = record::writer::open("/nonexistent/a.mcap");
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().context() == "/nonexistent/a.mcap: No such file or directory");
  temporary_folder folder;
  auto writer = open_writer(folder / "a.mcap");
  REQUIRE(writer.close());
  CHECK(writer.write(recorded("/a", "x", 1)).error() == errc::cannot_write_file);
  CHECK(writer.close());
}
