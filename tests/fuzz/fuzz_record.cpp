// Any bytes as a recording: an MCAP file.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <pubsub/record/reader.hpp>
#include <pubsub/record/summary.hpp>

#include "support/memory_file.hpp"

namespace pubsub::fuzz {

namespace {

constexpr std::size_t max_chunk_bytes = 64 * 1024;

struct counts {
  std::uint64_t messages = 0;
  std::uint64_t errors = 0;
};

void visit(const record::message& msg) {
  check(msg.payload.size() <= max_chunk_bytes, "a payload lies in its chunk");
  if (const auto view = record::view_of(msg))
    check(view->bytes().size() == msg.payload.size(), "a payload is one value");
  check(!msg.origin || msg.origin->sequence == msg.sequence, "a number is that of the origin");
}

counts read_all(record::reader& reader, std::size_t input_bytes) {
  counts result;
  for (;;) {
    const auto msg = reader.next();
    if (msg && !*msg)
      return result;
    if (msg) {
      ++result.messages;
      visit(**msg);
    } else {
      ++result.errors;
      check(!msg.error().context().empty(), "an error says what is wrong, and where");
    }
    check(result.errors <= input_bytes * max_chunk_bytes, "reading comes to an end");
  }
}

void try_input(std::span<const std::byte> bytes) {
  const test::memory_file file{bytes};
  // A chunk of a few bytes may be compressed from many, and each of those may be of a channel.
  const memory_bound bound{8 * 1024 * 1024 + 64 * 1024 * bytes.size()};
  record::reader_options options;
  options.max_chunk_bytes = max_chunk_bytes;
  auto reader = record::reader::open(file.path(), options);
  if (!reader) {
    check(!reader.error().context().empty(), "an error says what is wrong");
    return;
  }
  const auto found = read_all(*reader, bytes.size());
  check(!reader->indexed() || reader->damage().empty(), "an index that is used is right");
  record::reader_options none = options;
  none.topics = filter{};
  auto idle = record::reader::open(file.path(), none);
  check(idle.has_value(), "it opens again");
  check(read_all(*idle, bytes.size()).messages == 0, "nothing is read that is not wanted");
  check(found.messages == 0 || record::summarize(file.path()).has_value(), "it has a summary");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
