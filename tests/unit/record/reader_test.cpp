// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include <pubsub/binary.hpp>
#include <pubsub/record/summary.hpp>

#include "record/crc32.hpp"
#include "record/mcap.hpp"
#include "support/recordings.hpp"
#include "support/temporary_folder.hpp"

using namespace pubsub;
using namespace pubsub::test;

namespace {

// Three chunks of two messages on two topics.
std::string small_recording(const std::string& path, int level = 1) {
  record::writer_options options;
  options.chunks.compression_level = level;
  auto writer = record::writer::open(path, options);
  REQUIRE(writer);
  for (int i = 0; i < 6; ++i) {
    const auto payload = "payload " + std::to_string(i);
    REQUIRE(writer->write(recorded(i % 2 == 0 ? "/even" : "/odd", payload, i / 2)));
    if (i == 2)
      writer->note({.missed = 1}, at_second(1));
    if (i % 2 == 1)
      REQUIRE(writer->flush());
  }
  REQUIRE(writer->close());
  return file_content(path);
}

bool is_part_of(const std::vector<kept_message>& part, const std::vector<kept_message>& whole) {
  auto at = whole.begin();
  return std::ranges::all_of(part, [&](const kept_message& each) {
    at = std::find(at, whole.end(), each);
    return at != whole.end() && ++at != whole.begin();
  });
}

std::string chunk_of(std::uint64_t claimed_bytes, std::string_view compression,
                     std::span<const std::byte> records) {
  record::byte_buffer out;
  out.add_bytes(record::mcap::magic);
  record::mcap::append_header(out, "test");
  const auto begun = record::mcap::begin_record(out, record::mcap::opcode::chunk);
  out.add(std::uint64_t{0});
  out.add(std::uint64_t{0});
  out.add(claimed_bytes);
  out.add(std::uint32_t{0});
  out.add_text(compression);
  out.add(static_cast<std::uint64_t>(records.size()));
  out.add_bytes(records);
  record::mcap::end_record(out, begun);
  return text_of(out.bytes());
}

} // namespace

TEST_CASE("a recording that breaks off anywhere gives the messages of all whole chunks") {
  temporary_folder folder;
  const auto whole = small_recording(folder / "whole.mcap");
  const auto all = read_all(folder / "whole.mcap").messages;
  REQUIRE(all.size() == 6);
  std::size_t seen = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const auto path = folder / "part.mcap";
    write_file(path, std::string_view{whole}.substr(0, size));
    const auto found = read_all(path);
    CHECK((size == 0) == !found.errors.empty());
    CHECK_FALSE(found.indexed);
    CHECK((size == 0 || !found.damage.empty()));
    CHECK(found.messages.size() % 2 == 0);
    CHECK(found.messages.size() >= seen);
    CHECK(is_part_of(found.messages, all));
    seen = found.messages.size();
    const auto summary = record::summarize(path);
    CHECK(summary.has_value() == (size > 0));
    if (summary)
      CHECK(summary->messages == found.messages.size());
  }
  CHECK(seen == 6);
}

TEST_CASE(
    "a byte that is changed anywhere gives no wrong message, and none is missing in silence") {
  for (const int level : {0, 1}) {
    temporary_folder folder;
    const auto whole = small_recording(folder / "whole.mcap", level);
    const auto all = read_all(folder / "whole.mcap").messages;
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (const char change : {'\x01', '\x80', '\xff'}) {
        CAPTURE(at);
        auto changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ change);
        write_file(folder / "changed.mcap", changed);
        const auto found = read_all(folder / "changed.mcap");
        CHECK(is_part_of(found.messages, all));
        if (found.messages != all)
          CHECK((!found.errors.empty() || !found.damage.empty()));
      }
  }
}

TEST_CASE("behind a chunk that cannot be read the others can") {
  temporary_folder folder;
  auto content = small_recording(folder / "a.mcap", 0);
  content[content.find("payload 2")] = 'P';
  write_file(folder / "a.mcap", content);
  const auto found = read_all(folder / "a.mcap");
  REQUIRE(found.messages.size() == 4);
  CHECK(found.messages[2].topic == "/even");
  REQUIRE(found.errors.size() == 1);
  CHECK(found.errors[0] == errc::invalid_data);
  CHECK(found.errors[0].context().find("a.mcap, byte ") != std::string::npos);
  CHECK(found.errors[0].context().ends_with("the checksum of a chunk is wrong"));
}

TEST_CASE("only messages of the topics and times that are asked for are read") {
  temporary_folder folder;
  small_recording(folder / "a.mcap");
  const auto odd = read_all(folder / "a.mcap", {.topics = filter{topic{"/o"}}});
  CHECK(odd.messages.size() == 3);
  const auto later = read_all(folder / "a.mcap", {.from = at_second(1)});
  CHECK(later.messages.size() == 4);
  const auto middle = read_all(folder / "a.mcap", {.from = at_second(1), .to = at_second(2)});
  REQUIRE(middle.messages.size() == 2);
  CHECK(middle.messages[0].payload == "payload 2");
  CHECK(read_all(folder / "a.mcap", {.topics = filter{topic{"/none"}}}).messages.empty());
}

TEST_CASE("chunks that are not wanted are not read") {
  temporary_folder folder;
  auto content = small_recording(folder / "a.mcap", 0);
  content[content.find("payload 0")] = 'P'; // in the first chunk
  write_file(folder / "a.mcap", content);
  CHECK(read_all(folder / "a.mcap").errors.size() == 1);
  CHECK(read_all(folder / "a.mcap", {.from = at_second(1)}).errors.empty());
}

TEST_CASE("files that are none are told apart") {
  temporary_folder folder;
  CHECK(record::reader::open(folder / "missing").error() == errc::cannot_open_file);
  CHECK(record::reader::open("/tmp").error().context() == "/tmp: it is no regular file");
  write_file(folder / "empty", "");
  CHECK(record::reader::open(folder / "empty").error() == errc::end_of_file);
  write_file(folder / "text", "hello, world");
  const auto text = record::reader::open(folder / "text");
  CHECK(text.error() == errc::wrong_magic_number);
  CHECK(text.error().context().ends_with("text, byte 0: this is no MCAP file of version 0"));
}

TEST_CASE("lengths that lie are errors, and nothing is made of them") {
  temporary_folder folder;
  const auto path = folder / "a.mcap";
  const auto frame = small_recording(folder / "b.mcap").substr(0, 0);
  const auto empty = std::as_bytes(std::span{frame});
  const auto try_chunk = [&](std::uint64_t claimed, std::string_view compression,
                             std::span<const std::byte> records) {
    write_file(path, chunk_of(claimed, compression, records));
    const auto found = read_all(path);
    CHECK(found.messages.empty());
    REQUIRE(found.errors.size() == 1);
    return found.errors[0];
  };
  CHECK(try_chunk(1'000'000'000'000, "zstd", empty) == errc::limit_exceeded);
  CHECK(try_chunk(200'000'000, "zstd", empty) == errc::invalid_data);
  CHECK(try_chunk(10, "lz4", empty) == errc::not_supported);

  record::byte_buffer record;
  record.add(static_cast<std::uint8_t>(record::mcap::opcode::message));
  record.add(std::uint64_t{1} << 62);
  CHECK(try_chunk(record.size(), "", record.bytes()) == errc::invalid_data);

  record::byte_buffer top;
  top.add_bytes(record::mcap::magic);
  top.add(static_cast<std::uint8_t>(record::mcap::opcode::chunk));
  top.add(~std::uint64_t{0});
  write_file(path, text_of(top.bytes()));
  const auto found = read_all(path);
  CHECK(found.errors.empty());
  CHECK(found.damage.ends_with("a.mcap, byte 8: the file breaks off"));
}

TEST_CASE("a message of a channel that is not described is an error, and the next one is read") {
  record::byte_buffer records;
  for (const std::uint16_t channel : {7, 1}) {
    if (channel == 1)
      record::mcap::append(records, record::mcap::channel{1, 0, "/a", "x", {}});
    const auto begun = record::mcap::begin_record(records, record::mcap::opcode::message);
    records.add(channel);
    records.add(std::uint32_t{0});
    records.add(std::uint64_t{0});
    records.add(std::uint64_t{0});
    record::mcap::end_record(records, begun);
  }
  temporary_folder folder;
  write_file(folder / "a.mcap", chunk_of(records.size(), "", records.bytes()));
  const auto found = read_all(folder / "a.mcap");
  CHECK(found.errors.size() == 1);
  REQUIRE(found.messages.size() == 1);
  CHECK(found.messages[0].topic == "/a");
}

TEST_CASE("messages outside of chunks are read") {
  record::byte_buffer out;
  out.add_bytes(record::mcap::magic);
  record::mcap::append_header(out, "test");
  record::mcap::append(out, record::mcap::channel{1, 0, "/a", "x", {}});
  const auto begun = record::mcap::begin_record(out, record::mcap::opcode::message);
  out.add(std::uint16_t{1});
  out.add(std::uint32_t{5});
  out.add(std::uint64_t{6});
  out.add(std::uint64_t{7});
  record::mcap::end_record(out, begun);
  record::mcap::append_data_end(out, 0);
  record::mcap::append_footer_head(out, 0, 0);
  out.add(std::uint32_t{0});
  out.add_bytes(record::mcap::magic);
  temporary_folder folder;
  write_file(folder / "a.mcap", text_of(out.bytes()));
  const auto found = read_all(folder / "a.mcap");
  REQUIRE(found.messages.size() == 1);
  CHECK(found.messages[0].sequence == 5);
  CHECK(found.damage.empty());
  CHECK(found.errors.empty());
}

TEST_CASE("values are decoded from what was recorded, and from nothing else") {
  const auto bytes = encode_binary(data{42U});
  REQUIRE(bytes);
  record::message msg;
  msg.payload = *bytes;
  CHECK(record::value_of(msg).value_or(data{}) == data{42U});
  CHECK(record::view_of(msg)->as_count() == 42);
  msg.payload = msg.payload.first(3);
  CHECK(record::value_of(msg).error() == errc::end_of_file);
  msg.encoding = "cdr";
  CHECK(record::value_of(msg).error() == errc::not_supported);
  CHECK(record::view_of(msg).error() == errc::not_supported);
}
