// Bridges to lists of a real Redis server, which readers leave in the middle.
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis.hpp"

#include <unistd.h>

#include <pubsub/subscriber.hpp>

#include "support/engines.hpp"
#include "support/raw_socket.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;
using bridge::redis_list;
using bridge::source_options;
using bridge::start_position;

namespace {

bridge::redis at(const engine_server& server, redis_list how = redis_list::rpush) {
  bridge::redis result;
  result.url = "redis://127.0.0.1:" + std::to_string(server.port);
  result.list = how;
  return result;
}

source_options reading(const std::string& list) {
  source_options result;
  result.from = {list};
  return result;
}

std::unique_ptr<bridge::engine_reader> reader_at(const engine_server& server,
                                                 redis_list how = redis_list::rpush) {
  return reader_of(make_reader(at(server, how), reading("l")));
}

/// What the first reader of this host calls its own list.
std::string list_of_first_reader() {
  char host[256] = {};
  REQUIRE(::gethostname(host, sizeof host - 1) == 0);
  return "l:pubsub:" + std::string{host} + "-0";
}

void push_numbers(const engine_server& server, std::uint64_t first, std::uint64_t last,
                  redis_list how = redis_list::rpush, std::size_t size = 0) {
  driven_writer writer{make_writer(at(server, how))};
  for (auto i = first; i <= last; ++i)
    REQUIRE(writer.write(numbered_record("l", i, size)));
  REQUIRE(writer.settle());
  CHECK(writer.written == last - first + 1);
}

} // namespace

TEST_CASE(
    "elements of a list of Redis come in the order of their writer, at whichever end it writes") {
  const auto server = make_redis_server();
  if (!server)
    return;
  for (const auto how : {redis_list::rpush, redis_list::lpush}) {
    push_numbers(*server, 1, 3500, how);
    const auto reader = reader_at(*server, how);
    const auto got = fetch_all(*reader);
    REQUIRE(got.size() == 3500);
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(number_of(got[i]) == i + 1);
    CHECK(got[0].to == "l");
    CHECK_FALSE(got[0].again);
    REQUIRE(reader->commit());
    CHECK(reader->at_end());
    CHECK(reader->lag() == 0);
    CHECK(ask(*server, "KEYS l*") == "*1\r\n"); // the names of readers
  }
}

TEST_CASE("elements of lists are bytes, and large ones come fewer at once") {
  const auto server = make_redis_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server))};
  auto record = numbered_record("l", 1);
  record.payload = std::string("bytes\0\r\n\xff", 9);
  REQUIRE(writer.write(record));
  REQUIRE(writer.settle());
  push_numbers(*server, 2, 40, redis_list::rpush, 1'000'000);
  const auto got = fetch_all(*reader_at(*server));
  REQUIRE(got.size() == 40);
  CHECK(got[0].payload == record.payload.view());
  CHECK(got[39].payload.size() == 1'000'000);
}

TEST_CASE("what a reader of a list has not acknowledged comes to the next one, and what it has "
          "does not") {
  const auto server = make_redis_server();
  if (!server)
    return;
  push_numbers(*server, 1, 3000);
  {
    const auto first = reader_at(*server);
    CHECK(fetch(*first, 1000).size() == 1000);
    REQUIRE(first->commit());
    CHECK(fetch(*first, 500).size() == 500);
  }
  const auto second = reader_at(*server);
  const auto got = fetch_all(*second);
  REQUIRE(got.size() == 2000);
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(number_of(got[i]) == i + 1001);
  CHECK(got[0].again);
  CHECK_FALSE(got[1999].again);
  REQUIRE(second->commit());
  CHECK(fetch_all(*reader_at(*server)).empty());
}

TEST_CASE("readers of a list of Redis share its elements") {
  const auto server = make_redis_server();
  if (!server)
    return;
  push_numbers(*server, 1, 10'000);
  const auto one = reader_at(*server);
  const auto other = reader_at(*server);
  std::vector<bridge::fetched_record> got, its;
  CHECK(eventually([&] {
    one->fetch(got, 1000, 10ms);
    other->fetch(its, 1000, 10ms);
    CHECK(one->commit());
    CHECK(other->commit());
    return got.size() + its.size() >= 10'000;
  }));
  CHECK(got.size() >= 1000);
  CHECK(its.size() >= 1000);
  got.insert(got.end(), its.begin(), its.end());
  CHECK(got.size() == 10'000);
  CHECK(counted(got).size() == 10'000);
}

TEST_CASE(
    "what a dead reader of a list has left for a minute is taken over, and that of others is not") {
  const auto server = make_redis_server();
  if (!server)
    return;
  REQUIRE(ask(*server, "ZADD l:pubsub 1700000000 dead 1700000000 gone 9700000000 busy") ==
          ":3\r\n");
  REQUIRE(ask(*server, "RPUSH l:pubsub:dead 1 2 3") == ":3\r\n");
  REQUIRE(ask(*server, "RPUSH l:pubsub:busy 8 9") == ":2\r\n");
  REQUIRE(ask(*server, "RPUSH l 4 5") == ":2\r\n");
  const auto reader = reader_at(*server);
  const auto got = fetch_all(*reader);
  REQUIRE(got.size() == 5);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(number_of(got[i]) == i + 1);
    CHECK(got[i].again == (i < 3));
  }
  CHECK(reader->commit());
  CHECK(ask(*server, "LLEN l:pubsub:busy") == ":2\r\n");
  CHECK(ask(*server, "EXISTS l:pubsub:dead") == ":0\r\n");
  CHECK(ask(*server, "ZSCORE l:pubsub gone") == "$-1\r\n");
}

TEST_CASE("a reader of a list that was taken for dead removes nothing that it was not given") {
  const auto server = make_redis_server();
  if (!server)
    return;
  push_numbers(*server, 1, 100);
  const auto reader = reader_at(*server);
  CHECK(fetch(*reader, 100).size() == 100);
  const auto own = list_of_first_reader();
  REQUIRE(ask(*server, "RENAME " + own + " l:pubsub:another") == "+OK\r\n");
  REQUIRE(ask(*server, "RPUSH " + own + " 101 102") == ":2\r\n");
  CHECK_FALSE(reader->commit());
  CHECK(reader->last_problem().find("was changed by another") != std::string::npos);
  CHECK(ask(*server, "LLEN l:pubsub:another") == ":100\r\n");
  CHECK(ask(*server, "LLEN " + own) == ":2\r\n");
  const auto got = fetch_all(*reader);
  REQUIRE(got.size() == 2);
  CHECK(number_of(got[0]) == 101);
  CHECK(got[0].again);
  CHECK(reader->commit());
  CHECK(ask(*server, "EXISTS " + own) == ":0\r\n");

  // The same while it takes.
  push_numbers(*server, 103, 110);
  CHECK(fetch(*reader, 8).size() == 8);
  REQUIRE(ask(*server, "LPOP " + own) == "$3\r\n");
  push_numbers(*server, 111, 111);
  CHECK(counted(fetch(*reader, 8)).size() == 8);
  CHECK(ask(*server, "LLEN " + own) == ":8\r\n");
}

TEST_CASE("nothing is lost where Redis is killed while a list is read") {
  const auto server = make_redis_server({"--appendonly", "yes", "--appendfsync", "always"});
  if (!server)
    return;
  constexpr std::uint64_t count = 20'000;
  push_numbers(*server, 1, count);
  const auto reader = reader_at(*server);
  std::vector<bridge::fetched_record> got;
  for (int kills = 0; kills < 4; ++kills) {
    const auto more = fetch(*reader, 3000);
    got.insert(got.end(), more.begin(), more.end());
    if (kills % 2 == 0)
      reader->commit();
    server->kill();
    server->start();
  }
  const auto rest = fetch_all(*reader);
  got.insert(got.end(), rest.begin(), rest.end());
  CHECK(counted(got).size() == count);
  CHECK(eventually([&] { return reader->commit(); }));
  CHECK(ask(*server, "EXISTS l " + list_of_first_reader()) == ":0\r\n");
}

TEST_CASE("a list is read while Redis has no memory left: that is how it gets some") {
  const auto server = make_redis_server();
  if (!server)
    return;
  push_numbers(*server, 1, 5000, redis_list::rpush, 1000);
  REQUIRE(ask(*server, "CONFIG SET maxmemory 1") == "+OK\r\n");
  REQUIRE(ask(*server, "RPUSH l x").starts_with("-OOM"));
  const auto reader = reader_at(*server);
  CHECK(fetch_all(*reader).size() == 5000);
  CHECK(reader->commit());
  CHECK(ask(*server, "EXISTS l " + list_of_first_reader()) == ":0\r\n");
}

TEST_CASE("a source of lists ends where the name is that of a stream, and a sink is refused") {
  const auto server = make_redis_server();
  if (!server)
    return;
  REQUIRE(ask(*server, "XADD l * eve {}").starts_with("$"));
  const auto reader = reader_at(*server);
  CHECK(fetch(*reader, 1).empty());
  CHECK(reader->failure() == errc::invalid_argument);
  CHECK(reader->failure().context().find("l: WRONGTYPE") != std::string::npos);
  driven_writer writer{make_writer(at(*server))};
  REQUIRE(writer.write(numbered_record("l", 1)));
  REQUIRE(writer.write(numbered_record("other", 2)));
  REQUIRE(writer.settle());
  CHECK(writer.refused == 1);
  CHECK(writer.written == 1);
  // A reader's own list of a wrong type: nothing is taken, and nothing lost.
  REQUIRE(ask(*server, "DEL l") == ":1\r\n");
  REQUIRE(ask(*server, "RPUSH l 1") == ":1\r\n");
  REQUIRE(ask(*server, "SET l:pubsub x") == "+OK\r\n");
  const auto next = reader_at(*server);
  CHECK(fetch(*next, 1).empty());
  CHECK(next->failure() == errc::invalid_argument);
  CHECK(ask(*server, "LLEN l") == ":1\r\n");
}

TEST_CASE("a source that may run no scripts says so, and takes nothing") {
  const auto server = make_redis_server();
  if (!server)
    return;
  push_numbers(*server, 1, 10);
  REQUIRE(ask(*server, "ACL SETUSER default -@scripting") == "+OK\r\n");
  const auto reader = reader_at(*server);
  std::vector<bridge::fetched_record> got;
  CHECK(eventually([&] {
    reader->fetch(got, 10, 10ms);
    return reader->last_problem().find("NOPERM") != std::string::npos;
  }));
  CHECK(got.empty());
  CHECK(ask(*server, "LLEN l") == ":10\r\n");
  REQUIRE(ask(*server, "ACL SETUSER default +@scripting") == "+OK\r\n");
  CHECK(fetch(*reader, 10).size() == 10);
}

TEST_CASE(
    "lines of Suricata and of Logstash are published from lists as tables, and then removed") {
  const auto server = make_redis_server();
  if (!server)
    return;
  endpoint ep;
  auto sub = ep.make_subscriber({"eve"}, {});
  struct writer {
    redis_list how;
    std::string command, line, field, value;
  };
  for (const auto& [how, command, line, field, value] :
       {writer{
            redis_list::lpush, "LPUSH",
            R"({"timestamp":"2026-11-28T01:00:00.000000+0000","flow_id":1,"event_type":"alert"})",
            "event_type", "alert"},
        writer{redis_list::rpush, "RPUSH",
               R"({"@timestamp":"2026-11-28T01:00:00.000Z","@version":"1","tags":["zeek"]})",
               "@version", "1"}}) {
    REQUIRE(ask(*server, command + " l '" + line + "'") == ":1\r\n");
    auto options = reading("l");
    options.start.at = start_position::kind::beginning;
    options.publish = "eve/{topic}";
    options.until_end = true;
    auto source = bridge::source::open(ep, at(*server, how), options);
    REQUIRE(source);
    const auto got = sub.get_for(patience);
    REQUIRE(got);
    CHECK(get_topic(*got) == "eve/l");
    const auto* const table = get_data(*got).get_if<pubsub::table>();
    REQUIRE(table);
    CHECK(table->at(data{field}) == data{value});
    REQUIRE(source->wait_end(patience));
    CHECK(source->counters().delivered == 1);
    CHECK(ask(*server, "EXISTS l " + list_of_first_reader()) == ":0\r\n");
  }
}

TEST_CASE("what nobody wants of a list counts as read at the end of its source") {
  const auto server = make_redis_server();
  if (!server)
    return;
  push_numbers(*server, 1, 10);
  endpoint ep;
  auto options = reading("l");
  options.start.at = start_position::kind::beginning;
  options.until_end = true;
  {
    auto source = bridge::source::open(ep, at(*server), options);
    REQUIRE(source);
    REQUIRE(source->wait_end(patience));
    CHECK(source->counters().rejected.unwanted == 10);
  }
  CHECK(ask(*server, "EXISTS l " + list_of_first_reader()) == ":0\r\n");
}

TEST_CASE(
    "a server that is not Redis makes no reader of lists fail, and no element of its answers") {
  raw_listener listener;
  bridge::redis options;
  options.list = redis_list::rpush;
  options.url = "redis://127.0.0.1:" + std::to_string(listener.port());
  const auto reader = reader_of(make_reader(options, reading("l")));
  const std::string empty = "*0\r\n", live = "+PONG\r\n:0\r\n" + empty;
  std::vector<raw_socket> others;
  for (const auto& answer :
       {std::string{"+PONG\r\n:-1\r\n"}, std::string{"+PONG\r\n+OK\r\n"},
        std::string{"+PONG\r\n:0\r\n:1\r\n"}, std::string{"+PONG\r\n:0\r\n*1\r\n:1\r\n"},
        live + ":1\r\n", live + empty + "*1\r\n" + empty, live + empty + "*2\r\n*1\r\n:1\r\n:1\r\n",
        live + empty + "*2\r\n" + empty + ":-5\r\n", live + empty + "*2\r\n:1\r\n:1\r\n",
        live + empty + "*2\r\n" + empty + ":0\r\n+more\r\n"}) {
    CAPTURE(answer);
    std::vector<bridge::fetched_record> got;
    CHECK(eventually([&] {
      reader->fetch(got, 10, 1ms);
      if (auto one = listener.accept(0ms)) {
        one->send(std::as_bytes(std::span{answer}));
        others.push_back(*std::move(one));
        return true;
      }
      return false;
    }));
    CHECK(eventually([&] {
      reader->fetch(got, 10, 1ms);
      reader->commit();
      return !reader->last_problem().empty();
    }));
    CHECK(got.empty());
  }
  CHECK_FALSE(reader->failure());
}

TEST_CASE("what a list of Redis does not have is said when a bridge is made") {
  bridge::redis options;
  options.list = redis_list::rpush;
  auto two = reading("l");
  two.from.emplace_back("m");
  auto grouped = reading("l");
  grouped.group = "g";
  auto late = reading("l");
  late.start.at = start_position::kind::end;
  CHECK(make_reader(options, two).error() == errc::invalid_argument);
  CHECK(make_reader(options, grouped).error() == errc::not_supported);
  CHECK(make_reader(options, late).error() == errc::not_supported);
  options.max_length = 5;
  CHECK(make_writer(options).error() == errc::invalid_argument);
}
