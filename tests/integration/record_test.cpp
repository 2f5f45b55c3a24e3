// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include <pubsub/record/summary.hpp>

#include "support/eventually.hpp"
#include "support/nodes.hpp"
#include "support/recordings.hpp"
#include "support/temporary_folder.hpp"

using namespace pubsub;
using namespace pubsub::test;

namespace {

// What a publisher has said, in its own words.
struct published_line {
  std::string topic;
  std::string payload;
  message_origin origin;
  friend bool operator==(const published_line&, const published_line&) = default;
};

std::vector<published_line> lines_of(const std::vector<kept_message>& messages) {
  std::vector<published_line> result;
  for (const auto& each : messages)
    result.push_back({each.topic, each.payload, each.origin.value_or(message_origin{})});
  return result;
}

record::writer open_writer(const std::string& path, record::writer_options options = {}) {
  auto writer = record::writer::open(path, std::move(options));
  REQUIRE(writer);
  return std::move(*writer);
}

// Records until there are so many messages. False if they do not come.
bool record_messages(subscriber& sub, record::writer& to, std::uint64_t n) {
  while (to.totals().messages < n) {
    const auto batch = sub.get_batch_for(1000, patience);
    if (!batch || !to.write(*batch))
      return false;
  }
  return true;
}

// Publishes on two topics through one relay, and keeps the log.
std::vector<published_line> publish_logged(endpoint& from, std::size_t n) {
  std::vector<published_line> log;
  std::vector<publisher> publishers;
  publishers.push_back(from.make_publisher("/a"));
  publishers.push_back(from.make_publisher("/b"));
  data_writer out;
  for (std::size_t i = 0; i < n; ++i) {
    out.clear();
    out.write_string("message " + std::to_string(i));
    auto& to = publishers[i % 3 == 0 ? 1 : 0];
    REQUIRE(to.publish(out.bytes()) == publish_result::taken);
    log.push_back({to.topic(), text_of(out.bytes()), {from.id(), 0, 0}});
  }
  return log;
}

// The log with the numbers of the streams that the messages were found to have.
std::vector<published_line> numbered(std::vector<published_line> log,
                                     const std::vector<published_line>& found) {
  std::map<std::string, std::uint64_t> next;
  std::map<std::string, std::uint32_t> streams;
  for (const auto& each : found)
    streams.emplace(each.topic, each.origin.stream);
  for (auto& each : log)
    each.origin = {each.origin.endpoint, streams[each.topic], next[each.topic]++};
  return log;
}

} // namespace

TEST_CASE("what is recorded behind a relay is the publisher's log: values, order and origins") {
  chain nodes{3};
  temporary_folder folder;
  auto sub = nodes.back().make_subscriber({topic{"/"}});
  REQUIRE(nodes.front().wait_for_subscribers("/a", 1, patience));
  REQUIRE(nodes.front().wait_for_subscribers("/b", 1, patience));
  const auto log = publish_logged(nodes.front(), 10'000);
  auto writer = open_writer(folder / "a.mcap");
  REQUIRE(record_messages(sub, writer, log.size()));
  REQUIRE(writer.close());
  // Messages of different publishers have no mutual order: each topic is compared by itself.
  for (const auto* name : {"/a", "/b"}) {
    const auto found =
        lines_of(read_all(folder / "a.mcap", {filter{topic{name}}, {}, {}}).messages);
    std::vector<published_line> said;
    std::ranges::copy_if(log, std::back_inserter(said),
                         [&](const auto& each) { return each.topic == name; });
    CHECK(found == numbered(said, found));
  }
  CHECK(sub.counters().missed == 0);
}

TEST_CASE("a recorder that is killed loses the messages of the last chunk and no others") {
  temporary_folder folder;
  const auto path = folder / "a.mcap";
  constexpr std::size_t chunk_messages = 100;
  int said[2];
  REQUIRE(::pipe(said) == 0);
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) { // writes for ever, and says how many messages it has handed over
    record::writer_options options;
    options.chunks.chunk_bytes = 64 * chunk_messages;
    auto writer = record::writer::open(path, options);
    const std::string payload(33, 'x'); // 64 bytes with what the format adds
    for (std::uint64_t i = 1; writer; ++i) {
      auto msg = recorded("/a", payload, 1);
      msg.sequence = i;
      if (!writer->write(msg) || ::write(said[1], &i, sizeof i) != sizeof i)
        break;
    }
    ::_exit(1);
  }
  ::close(said[1]);
  std::uint64_t handed_over = 0;
  while (handed_over < 5000 && ::read(said[0], &handed_over, sizeof handed_over) > 0) {
  }
  REQUIRE(::kill(child, SIGKILL) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  for (std::uint64_t last = 0; ::read(said[0], &last, sizeof last) == sizeof last;)
    handed_over = last; // what the pipe still held
  ::close(said[0]);

  const auto found = read_all(path);
  CHECK(found.errors.empty());
  CHECK_FALSE(found.damage.empty());
  REQUIRE(found.messages.size() + chunk_messages >= handed_over);
  for (std::size_t i = 0; i < found.messages.size(); ++i)
    REQUIRE(found.messages[i].sequence == i + 1);
}

TEST_CASE("a replay gives subscribers the recorded values in the recorded order") {
  temporary_folder folder;
  const auto messages = published_messages(1000, {"/a", "/b", "/c"});
  auto writer = open_writer(folder / "a.mcap");
  REQUIRE(writer.write(messages));
  REQUIRE(writer.close());

  chain nodes{2};
  auto sub = nodes.back().make_subscriber({topic{"/"}});
  REQUIRE(nodes.front().wait_for_subscribers("/a", 1, patience));
  auto reader = record::reader::open(folder / "a.mcap");
  REQUIRE(reader);
  for (;;) {
    const auto msg = reader->next();
    REQUIRE(msg);
    if (!*msg)
      break;
    REQUIRE(record::view_of(**msg));
    REQUIRE(nodes.front().publish((*msg)->topic, (*msg)->payload) == publish_result::taken);
  }
  for (const auto& each : messages) {
    const auto got = sub.get_for(patience);
    REQUIRE(got);
    CHECK(get_topic(*got) == get_topic(each));
    CHECK(text_of(get_view(*got).bytes()) == text_of(get_view(each).bytes()));
    CHECK(get_publishing_endpoint(*got) == nodes.front().id()); // the replay speaks for itself
  }
}
