// Bridges to streams of a real Redis server, which is killed while records are under way.
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis.hpp"

#include <thread>

#include "support/engines.hpp"
#include "support/raw_socket.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;
using bridge::engine_record;
using bridge::source_options;
using bridge::start_position;

namespace {

bridge::redis at(const engine_server& server) {
  bridge::redis result;
  result.url = "redis://127.0.0.1:" + std::to_string(server.port);
  return result;
}

source_options reading(const std::string& stream, const std::string& group = {}) {
  source_options result;
  result.from = {stream};
  result.group = group;
  return result;
}

void write_numbers(const engine_server& server, const std::string& stream, std::uint64_t first,
                   std::uint64_t last) {
  driven_writer writer{make_writer(at(server))};
  for (auto i = first; i <= last; ++i)
    REQUIRE(writer.write(numbered_record(stream, i)));
  REQUIRE(writer.settle());
  CHECK(writer.written == last - first + 1);
}

} // namespace

TEST_CASE("what is written to a stream of Redis is read with its key and where it comes from") {
  const auto server = make_redis_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server))};
  auto record = numbered_record("zeek.conn", 7);
  record.key = "the key";
  record.payload = std::string("bytes\0\r\n\xff", 9);
  REQUIRE(writer.write(record));
  REQUIRE(writer.settle());
  const auto reader = reader_of(make_reader(at(*server), reading("zeek.conn")));
  const auto got = fetch_all(*reader);
  REQUIRE(got.size() == 1);
  CHECK(got[0].to == "zeek.conn");
  CHECK(got[0].key == "the key");
  CHECK(got[0].payload == record.payload.view());
  CHECK(got[0].from.topic.view() == "zeek/logs/conn");
  CHECK(got[0].from.origin.view() == record.from.origin.view());
  CHECK(got[0].from.sequence == 7);
  CHECK(got[0].from.network.view() == "test");
  CHECK(got[0].from.format == bridge::payload_format::zeek_json);
  CHECK_FALSE(got[0].from.redelivered);
  CHECK_FALSE(got[0].again);
}

TEST_CASE("nothing is lost where Redis is killed while records are written") {
  const auto server = make_redis_server({"--appendonly", "yes", "--appendfsync", "always"});
  if (!server)
    return;
  constexpr std::uint64_t count = 100'000;
  driven_writer writer{make_writer(at(*server))};
  for (std::uint64_t i = 1; i <= count; ++i) {
    REQUIRE(writer.write(numbered_record("s", i, 100)));
    if (i == count / 3 || i == count / 2) {
      server->kill();
      server->start();
    }
  }
  REQUIRE(writer.settle());
  CHECK(writer.written == count);
  const auto reader = reader_of(make_reader(at(*server), reading("s")));
  const auto got = fetch_all(*reader);
  const auto numbers = counted(got);
  CHECK(numbers.size() == count);
  std::size_t doubled = 0, marked = 0;
  for (const auto& each : got)
    marked += each.from.redelivered;
  for (const auto& [number, times] : numbers)
    doubled += static_cast<std::size_t>(times - 1);
  CHECK(doubled <= marked);
  CHECK(marked > 0); // or it was not killed in the middle
}

TEST_CASE("what Redis will never take is refused, and the rest is written") {
  const auto server = make_redis_server();
  if (!server)
    return;
  REQUIRE(ask(*server, "SET other value") == "+OK\r\n");
  driven_writer writer{make_writer(at(*server))};
  REQUIRE(writer.write(numbered_record("other", 1)));
  REQUIRE(writer.write(numbered_record("s", 2)));
  REQUIRE(writer.settle());
  CHECK(writer.refused == 1);
  CHECK(writer.written == 1);
  CHECK(writer.why.starts_with("WRONGTYPE"));
}

TEST_CASE("records wait while Redis has no memory, and are then written in order") {
  const auto server = make_redis_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server))};
  REQUIRE(ask(*server, "CONFIG SET maxmemory 1") == "+OK\r\n");
  for (std::uint64_t i = 1; i <= 100; ++i)
    REQUIRE(writer.write(numbered_record("s", i)));
  CHECK(eventually([&] {
    writer.poll();
    return writer.writer->last_problem().find("OOM") != std::string::npos;
  }));
  CHECK(writer.settled.empty());
  REQUIRE(ask(*server, "CONFIG SET maxmemory 0") == "+OK\r\n");
  REQUIRE(writer.settle());
  CHECK(writer.written == 100);
  CHECK(writer.writer->last_problem().empty());
  const auto reader = reader_of(make_reader(at(*server), reading("s")));
  const auto got = fetch_all(*reader);
  REQUIRE(got.size() == 100);
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(number_of(got[i]) == i + 1);
}

TEST_CASE("a stream of Redis keeps about as many entries as its sink was told") {
  const auto server = make_redis_server();
  if (!server)
    return;
  auto options = at(*server);
  options.max_length = 100;
  driven_writer writer{make_writer(options)};
  for (std::uint64_t i = 1; i <= 5000; ++i)
    REQUIRE(writer.write(numbered_record("s", i)));
  REQUIRE(writer.settle());
  const auto length = std::stoul(ask(*server, "XLEN s").substr(1));
  CHECK(length >= 100);
  CHECK(length < 1000);
}

TEST_CASE("a group of Redis goes on behind what was committed, and what was not comes again") {
  const auto server = make_redis_server();
  if (!server)
    return;
  write_numbers(*server, "s", 1, 300);
  {
    const auto first = reader_of(make_reader(at(*server), reading("s", "g")));
    CHECK(fetch(*first, 100).size() == 100);
    REQUIRE(first->commit());
    CHECK(fetch(*first, 50).size() == 50);
  }
  const auto second = reader_of(make_reader(at(*server), reading("s", "g")));
  const auto got = fetch_all(*second);
  REQUIRE(got.size() == 200);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(number_of(got[i]) == i + 101);
    CHECK(got[i].again == (i < 50));
  }
  REQUIRE(second->commit());
  CHECK(second->at_end());
  CHECK(second->lag() == 0);
  const auto third = reader_of(make_reader(at(*server), reading("s", "g")));
  CHECK(fetch_all(*third).empty());
}

TEST_CASE("an acknowledgement that Redis refuses is said, and made up for") {
  const auto server = make_redis_server();
  if (!server)
    return;
  write_numbers(*server, "s", 1, 10);
  {
    const auto reader = reader_of(make_reader(at(*server), reading("s", "g")));
    CHECK(fetch(*reader, 10).size() == 10);
    REQUIRE(ask(*server, "ACL SETUSER default -xack") == "+OK\r\n");
    CHECK_FALSE(reader->commit());
    CHECK(reader->last_problem().find("NOPERM") != std::string::npos);
    REQUIRE(ask(*server, "ACL SETUSER default +xack") == "+OK\r\n");
    CHECK(eventually([&] { return reader->commit(); }));
  }
  CHECK(fetch_all(*reader_of(make_reader(at(*server), reading("s", "g")))).empty());
}

TEST_CASE("readers of a group of Redis share its records") {
  const auto server = make_redis_server();
  if (!server)
    return;
  const auto one = reader_of(make_reader(at(*server), reading("s", "g")));
  const auto other = reader_of(make_reader(at(*server), reading("s", "g")));
  std::vector<bridge::fetched_record> got, its;
  one->fetch(got, 10, 200ms);
  other->fetch(its, 10, 200ms);
  write_numbers(*server, "s", 1, 1000);
  CHECK(eventually([&] {
    one->fetch(got, 100, 10ms);
    other->fetch(its, 100, 10ms);
    return got.size() + its.size() >= 1000;
  }));
  CHECK(got.size() >= 100);
  CHECK(its.size() >= 100);
  got.insert(got.end(), its.begin(), its.end());
  CHECK(got.size() == 1000);
  CHECK(counted(got).size() == 1000);
  CHECK(one->commit());
  CHECK(other->commit());
}

TEST_CASE("what a dead member of a group of Redis has held for a minute is taken over") {
  const auto server = make_redis_server();
  if (!server)
    return;
  REQUIRE(ask(*server, "XGROUP CREATE s g 0 MKSTREAM") == "+OK\r\n");
  for (int i = 1; i <= 3; ++i)
    REQUIRE(ask(*server, "XADD s " + std::to_string(i) + "-0 payload " + std::to_string(i))
                .starts_with("$"));
  REQUIRE(ask(*server, "XREADGROUP GROUP g dead COUNT 2 STREAMS s >").starts_with("*"));
  REQUIRE(ask(*server, "XCLAIM s g dead 0 1-0 IDLE 70000 JUSTID").starts_with("*"));
  const auto reader = reader_of(make_reader(at(*server), reading("s", "g")));
  const auto got = fetch(*reader, 2);
  REQUIRE(got.size() == 2);
  for (const auto& each : got)
    CHECK(each.again == (each.payload == "1"));
  CHECK(counted(got).count(2) == 0); // held for less
  CHECK_FALSE(reader->at_end());     // that one may come yet
  REQUIRE(reader->commit());
  CHECK(ask(*server, "XPENDING s g") == "*4\r\n");
  CHECK(ask(*server, "XACK s g 2-0") == ":1\r\n"); // and not more
  CHECK(ask(*server, "XACK s g 1-0") == ":0\r\n");
}

TEST_CASE("a group of Redis whose stream was removed is made again") {
  const auto server = make_redis_server();
  if (!server)
    return;
  write_numbers(*server, "s", 1, 10);
  const auto reader = reader_of(make_reader(at(*server), reading("s", "g")));
  CHECK(fetch(*reader, 10).size() == 10);
  REQUIRE(ask(*server, "DEL s") == ":1\r\n");
  write_numbers(*server, "s", 11, 20);
  const auto got = fetch(*reader, 10);
  INFO(reader->last_problem());
  REQUIRE(got.size() == 10);
  CHECK(number_of(got.front()) == 11);
}

TEST_CASE("a source of Redis reads several streams, and says which") {
  const auto server = make_redis_server();
  if (!server)
    return;
  write_numbers(*server, "s", 1, 1500);
  write_numbers(*server, "t", 1501, 2000);
  for (const std::string group : {"", "g"}) {
    auto options = reading("s", group);
    options.from.emplace_back("t");
    options.from.emplace_back("nothing");
    const auto reader = reader_of(make_reader(at(*server), options));
    const auto got = fetch_all(*reader);
    CHECK(got.size() == 2000);
    for (const auto& each : got)
      CHECK(each.to == (number_of(each) <= 1500 ? "s" : "t"));
  }
}

TEST_CASE("a bridge reaches Redis through a Unix socket") {
  const auto program = find_program("redis-server");
  if (!program)
    return;
  temporary_folder folder;
  const auto path = folder / "redis.sock";
  server_process server{*program,
                        {"--port", "0", "--unixsocket", path, "--dir", folder / "", "--save", ""}};
  bridge::redis options;
  options.url = "unix://" + path;
  driven_writer writer{make_writer(options)};
  REQUIRE(writer.write(numbered_record("s", 1)));
  REQUIRE(writer.settle());
  CHECK(fetch_all(*reader_of(make_reader(options, reading("s", "g")))).size() == 1);
}

TEST_CASE("a full writer of Redis takes no more, and never blocks while the server is stopped") {
  const auto server = make_redis_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server))};
  REQUIRE(writer.write(numbered_record("s", 1)));
  REQUIRE(writer.settle());
  server->process->stop();
  auto longest = 0ns;
  for (std::uint64_t i = 2; i < 20'000; ++i) {
    auto record = numbered_record("s", i, 2000);
    const auto begin = std::chrono::steady_clock::now();
    const bool room = writer.writer->write(record);
    writer.poll();
    longest = std::max(longest, std::chrono::steady_clock::now() - begin);
    if (!room)
      break;
    ++writer.next;
  }
  CHECK(writer.next < 15'000);
  CHECK(longest < 1s); // 336 ms were seen while compilers filled the machine
  server->process->go_on();
  CHECK(writer.settle());
  CHECK(writer.refused == 0);
}

TEST_CASE("a source of Redis begins where it is told") {
  const auto server = make_redis_server();
  if (!server)
    return;
  for (int i = 1; i <= 5; ++i)
    REQUIRE(ask(*server, "XADD s " + std::to_string(i * 1000) + "-1 payload " + std::to_string(i))
                .starts_with("$"));
  for (const std::string group : {"", "g"}) {
    CAPTURE(group);
    const auto numbers = [&](start_position start) {
      auto options = reading("s", group);
      options.start = std::move(start);
      const auto reader = reader_of(make_reader(at(*server), options));
      std::string result;
      for (const auto& each : fetch_all(*reader))
        result += each.payload;
      return result;
    };
    using kind = start_position::kind;
    CHECK(numbers({kind::beginning, {}, {}}) == "12345");
    CHECK(numbers({kind::end, {}, {}}).empty());
    CHECK(numbers({kind::offset, {}, "3000-1"}) == "345");
    CHECK(numbers({kind::offset, {}, "3000-2"}) == "45");
    CHECK(numbers({kind::offset, {}, "4000"}) == "45");
    CHECK(numbers({kind::time, timestamp{4000ms}, {}}) == "45");
    CHECK(numbers({kind::time, timestamp{4001ms}, {}}) == "5");
    CHECK(numbers({kind::time, timestamp{-1s}, {}}) == "12345");
  }
}

TEST_CASE("a source of Redis that begins at the end gets what comes then, also over a restart") {
  const auto server = make_redis_server({"--appendonly", "yes", "--appendfsync", "always"});
  if (!server)
    return;
  write_numbers(*server, "s", 1, 10);
  auto options = reading("s");
  options.start.at = start_position::kind::end;
  const auto reader = reader_of(make_reader(at(*server), options));
  std::vector<bridge::fetched_record> got;
  CHECK(eventually([&] {
    reader->fetch(got, 10, 10ms);
    return reader->at_end();
  }));
  CHECK(got.empty());
  write_numbers(*server, "s", 11, 20);
  server->kill();
  server->start();
  got = fetch(*reader, 10);
  REQUIRE(got.size() == 10);
  CHECK(number_of(got.front()) == 11);
}

TEST_CASE("entries of other programs are read by their only field, or as an object") {
  const auto server = make_redis_server();
  if (!server)
    return;
  REQUIRE(ask(*server, R"(XADD s * eve '{"event_type":"alert"}')").starts_with("$"));
  REQUIRE(ask(*server, R"(XADD s * a 1 b "two\"\n\xff")").starts_with("$"));
  const auto reader = reader_of(make_reader(at(*server), reading("s")));
  const auto got = fetch_all(*reader);
  REQUIRE(got.size() == 2);
  CHECK(got[0].payload == R"({"event_type":"alert"})");
  CHECK(got[1].payload == "{\"a\":\"1\",\"b\":\"two\\\"\\u000a\xEF\xBF\xBD\"}");
}

TEST_CASE("a bridge logs in at Redis, and says why it cannot") {
  const auto server = make_redis_server({"--requirepass", "secret"});
  if (!server)
    return;
  driven_writer refused{make_writer(at(*server))};
  REQUIRE(refused.write(numbered_record("s", 1)));
  CHECK(eventually([&] {
    refused.poll();
    return refused.writer->last_problem().find("NOAUTH") != std::string::npos;
  }));
  auto options = at(*server);
  options.url = "redis://default:secr%65t@127.0.0.1:" + std::to_string(server->port) + "/3";
  driven_writer writer{make_writer(options)};
  REQUIRE(writer.write(numbered_record("s", 1)));
  REQUIRE(writer.settle());
  CHECK(writer.written == 1);
  CHECK(writer.writer->last_problem().find("secret") == std::string::npos);
  CHECK(fetch_all(*reader_of(make_reader(options, reading("s")))).size() == 1);
}

TEST_CASE("a bridge to a Redis that is not there says so, and goes on once it is") {
  if (!find_program("redis-server"))
    return;
  bridge::redis options;
  const auto port = unused_port();
  options.url = "redis://127.0.0.1:" + std::to_string(port);
  driven_writer writer{make_writer(options)};
  REQUIRE(writer.write(numbered_record("s", 1)));
  CHECK(eventually([&] {
    writer.poll();
    return writer.writer->last_problem().find("refused") != std::string::npos;
  }));
  CHECK(writer.writer->last_problem().starts_with(options.url));
  temporary_folder folder;
  server_process late{*find_program("redis-server"),
                      {"--port", std::to_string(port), "--dir", folder / "", "--save", ""}};
  CHECK(writer.settle());
  CHECK(writer.written == 1);
}

TEST_CASE("a server that is not Redis makes no bridge fail, and no record is taken for written") {
  raw_listener listener;
  bridge::redis options;
  options.url = "redis://127.0.0.1:" + std::to_string(listener.port());
  driven_writer writer{make_writer(options)};
  const auto reader = reader_of(make_reader(options, reading("s", "g")));
  REQUIRE(writer.write(numbered_record("s", 1)));
  const std::vector<std::string> answers{"\xff\x01 garbage\r\n",
                                         "HTTP/1.1 400 Bad Request\r\n\r\n",
                                         "*-7\r\n",
                                         "$-9\r\n",
                                         "*1000000000\r\n",
                                         "+PONG\r\n*2\r\n:1\r\n*-1\r\n",
                                         "+PONG\r\n:5\r\n",
                                         "+PONG\r\n$2\r\nid\r\n",
                                         "+PONG\r\n+OK\r\n*1\r\n*1\r\n$1\r\ns\r\n"};
  for (const auto& answer : answers) {
    CAPTURE(answer);
    std::vector<raw_socket> others;
    std::vector<bridge::fetched_record> got;
    CHECK(eventually([&] {
      writer.poll();
      reader->fetch(got, 10, 1ms);
      if (auto one = listener.accept(0ms)) {
        one->send(std::as_bytes(std::span{answer}));
        others.push_back(*std::move(one));
        return true;
      }
      return false;
    }));
    CHECK(eventually([&] {
      writer.poll();
      reader->fetch(got, 10, 1ms);
      reader->commit();
      return !writer.writer->last_problem().empty() || !reader->last_problem().empty();
    }));
    CHECK(got.empty());
  }
  CHECK(writer.settled.empty());
  CHECK_FALSE(reader->failure());
}

TEST_CASE("what a bridge to Redis cannot use is said when it is made") {
  bridge::redis options;
  for (const auto* url :
       {"", "127.0.0.1:6379", "redis://", "redis://h:0", "redis://h:x", "redis://h:70000",
        "redis://p@h", "redis://h/x", "unix://relative", "redis://u:%zz@h", "http://h"}) {
    CAPTURE(url);
    options.url = url;
    const auto made = make_writer(options);
    REQUIRE_FALSE(made);
    CHECK(made.error() == errc::invalid_argument);
  }
  options = {};
  CHECK_FALSE(make_reader(options, {}));
  auto reading_at = reading("s");
  reading_at.start = {start_position::kind::offset, {}, "5-x"};
  CHECK_FALSE(make_reader(options, reading_at));
  options.field = "key";
  CHECK_FALSE(make_writer(options));
}
