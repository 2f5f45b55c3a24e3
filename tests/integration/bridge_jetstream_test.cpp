// Bridges to streams of a real NATS server, which is killed while records are under way.
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/jetstream.hpp"

#include <fstream>

#include "support/certificates.hpp"
#include "support/engines.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;
using bridge::source_options;
using bridge::start_position;

namespace {

bridge::jetstream at(const engine_server& server, const std::string& subjects = "zeek.>") {
  bridge::jetstream result;
  result.url = "nats://127.0.0.1:" + std::to_string(server.port);
  result.stream = "ZEEK";
  result.subjects = subjects;
  return result;
}

source_options reading(const std::string& group = {}, std::vector<std::string> from = {}) {
  source_options result;
  result.from = std::move(from);
  result.group = group;
  return result;
}

/// Publishes one message as a client without a library, and waits until the server has read it.
void tell(const engine_server& server, const std::string& subject, const std::string& text = {}) {
  auto socket = raw_socket::connect(server.port);
  const auto lines = "CONNECT {\"verbose\":false}\r\nPUB " + subject + " " +
                     std::to_string(text.size()) + "\r\n" + text + "\r\nPING\r\n";
  socket.send(std::as_bytes(std::span{lines}));
  std::string got;
  while (!got.ends_with("PONG\r\n")) {
    const auto next = socket.read(1);
    REQUIRE_FALSE(next.empty());
    got += static_cast<char>(next[0]);
  }
}

void write_numbers(const engine_server& server, const std::string& subject, std::uint64_t first,
                   std::uint64_t last) {
  driven_writer writer{make_writer(at(server))};
  for (auto i = first; i <= last; ++i)
    REQUIRE(writer.write(numbered_record(subject, i)));
  REQUIRE(writer.settle());
  CHECK(writer.written == last - first + 1);
}

} // namespace

TEST_CASE("what is written to a stream of NATS is read with its key and where it comes from") {
  const auto server = make_nats_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server))};
  auto record = numbered_record("zeek.conn", 7);
  record.key = "the\r\nkey";
  record.payload = std::string("bytes\0\r\n\xff", 9);
  REQUIRE(writer.write(record));
  REQUIRE(writer.settle());
  CHECK(writer.written == 1);
  const auto reader = reader_of(make_reader(at(*server), reading()));
  const auto got = fetch_all(*reader);
  REQUIRE(got.size() == 1);
  CHECK(got[0].to == "zeek.conn");
  CHECK(got[0].key == "the__key"); // headers are lines
  CHECK(got[0].payload == record.payload.view());
  CHECK(got[0].from.topic.view() == "zeek/logs/conn");
  CHECK(got[0].from.origin.view() == record.from.origin.view());
  CHECK(got[0].from.sequence == 7);
  CHECK(got[0].from.network.view() == "test");
  CHECK(got[0].from.format == bridge::payload_format::zeek_json);
  CHECK_FALSE(got[0].from.redelivered);
  CHECK_FALSE(got[0].again);
}

TEST_CASE("nothing is lost or there twice where NATS is killed while records are written") {
  const auto server = make_nats_server();
  if (!server)
    return;
  constexpr std::uint64_t count = 100'000;
  driven_writer writer{make_writer(at(*server))};
  for (std::uint64_t i = 1; i <= count; ++i) {
    REQUIRE(writer.write(numbered_record("zeek.conn", i, 100)));
    if (i == count / 3 || i == count / 2) {
      server->kill();
      server->start();
    }
  }
  REQUIRE(writer.settle());
  CHECK(writer.written == count);
  const auto reader = reader_of(make_reader(at(*server), reading()));
  const auto got = fetch_all(*reader);
  CHECK(got.size() == count);
  CHECK(counted(got).size() == count);
}

TEST_CASE("nothing is lost where NATS is killed while a group reads") {
  const auto server = make_nats_server();
  if (!server)
    return;
  constexpr std::uint64_t count = 20'000;
  write_numbers(*server, "zeek.conn", 1, count);
  for (const std::string group : {"g", ""}) {
    CAPTURE(group);
    const auto reader = reader_of(make_reader(at(*server), reading(group)));
    auto got = fetch(*reader, count / 3);
    CHECK(got.size() == count / 3);
    reader->commit();
    server->kill();
    server->start();
    // What was on its way comes again after half a minute.
    const auto rest = fetch_all(*reader, 90s);
    got.insert(got.end(), rest.begin(), rest.end());
    CHECK(counted(got).size() == count);
    if (group.empty())
      CHECK(got.size() == count);
  }
}

TEST_CASE("a subject that no stream takes is refused once the server has said so") {
  const auto server = make_nats_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server))};
  REQUIRE(writer.write(numbered_record("nowhere.conn", 1)));
  REQUIRE(writer.write(numbered_record("zeek.conn", 2)));
  REQUIRE(writer.write(numbered_record("$JS.API.STREAM.DELETE.ZEEK", 3)));
  REQUIRE(writer.write(numbered_record("zeek.*", 4)));
  auto large = numbered_record("zeek.conn", 5);
  large.payload = std::string(2'000'000, ' ');
  REQUIRE(writer.write(large));
  REQUIRE(writer.settle());
  CHECK(writer.refused == 4);
  CHECK(writer.written == 1);
  CHECK(fetch_all(*reader_of(make_reader(at(*server), reading()))).size() == 1);
}

TEST_CASE("records wait for a stream that is not there yet") {
  const auto server = make_nats_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server, ""))};
  REQUIRE(writer.write(numbered_record("zeek.conn", 1)));
  CHECK(eventually([&] {
    writer.poll();
    return writer.writer->last_problem().find("stream not found") != std::string::npos;
  }));
  CHECK(writer.settled.empty());
  write_numbers(*server, "zeek.conn", 2, 2); // makes it
  CHECK(writer.settle());
  CHECK(writer.written == 1);
}

TEST_CASE("a record that is written again with its origin and number is there once") {
  const auto server = make_nats_server();
  if (!server)
    return;
  write_numbers(*server, "zeek.conn", 1, 100);
  write_numbers(*server, "zeek.conn", 51, 150);
  const auto got = fetch_all(*reader_of(make_reader(at(*server), reading())));
  CHECK(got.size() == 150);
}

TEST_CASE("records that one message becomes are all kept, and each once when they come again") {
  const auto server = make_nats_server();
  if (!server)
    return;
  for (int times = 0; times < 2; ++times) {
    driven_writer writer{make_writer(at(*server))};
    for (std::uint64_t part = 0; part < 5; ++part) {
      auto record = numbered_record("zeek.conn", 7);
      record.from.part = part;
      REQUIRE(writer.write(record));
    }
    REQUIRE(writer.settle());
    CHECK(writer.written == 5);
  }
  const auto got = fetch_all(*reader_of(make_reader(at(*server), reading())));
  REQUIRE(got.size() == 5);
  for (std::uint64_t part = 0; part < 5; ++part)
    CHECK(got[part].from.part == part);
}

TEST_CASE("a group of NATS goes on behind what was committed, and what was not comes again") {
  const auto server = make_nats_server();
  if (!server)
    return;
  write_numbers(*server, "zeek.conn", 1, 300);
  {
    const auto first = reader_of(make_reader(at(*server), reading("g")));
    CHECK(fetch(*first, 100).size() == 100);
    REQUIRE(first->commit());
    CHECK(fetch(*first, 50).size() == 50);
  }
  const auto second = reader_of(make_reader(at(*server), reading("g")));
  const auto got = fetch_all(*second);
  CHECK(got.size() == 200);
  const auto numbers = counted(got);
  CHECK(numbers.size() == 200);
  CHECK(numbers.begin()->first == 101);
  for (const auto& each : got)
    CHECK(each.again == (number_of(each) <= 150));
  REQUIRE(second->commit());
  CHECK(second->lag() == 0);
  const auto third = reader_of(make_reader(at(*server), reading("g")));
  CHECK(fetch_all(*third).empty());
}

TEST_CASE("readers of a group of NATS share its records") {
  const auto server = make_nats_server();
  if (!server)
    return;
  write_numbers(*server, "zeek.conn", 1, 1);
  const auto one = reader_of(make_reader(at(*server), reading("g")));
  const auto other = reader_of(make_reader(at(*server), reading("g")));
  std::vector<bridge::fetched_record> got, its;
  one->fetch(got, 100, 500ms);
  other->fetch(its, 100, 500ms);
  write_numbers(*server, "zeek.conn", 2, 2000);
  CHECK(eventually([&] {
    one->fetch(got, 100, 10ms);
    other->fetch(its, 100, 10ms);
    return got.size() + its.size() >= 2000;
  }));
  CHECK(got.size() >= 200);
  CHECK(its.size() >= 200);
  got.insert(got.end(), its.begin(), its.end());
  CHECK(got.size() == 2000);
  CHECK(counted(got).size() == 2000);
  CHECK(one->commit());
  CHECK(other->commit());
}

TEST_CASE("a source of NATS begins where it is told") {
  const auto server = make_nats_server();
  if (!server)
    return;
  write_numbers(*server, "zeek.conn", 1, 3);
  const auto middle = now();
  write_numbers(*server, "zeek.conn", 4, 5);
  for (const std::string group : {"", "g"}) {
    CAPTURE(group);
    const auto numbers = [&](start_position start) {
      auto options = reading(group);
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
    CHECK(numbers({kind::offset, {}, "3"}) == "345");
    CHECK(numbers({kind::time, middle, {}}) == "45");
    CHECK(numbers({kind::beginning, {}, {}}) == "12345");
  }
}

TEST_CASE("a source of NATS that begins at the end gets what comes then, also over a restart") {
  const auto server = make_nats_server();
  if (!server)
    return;
  write_numbers(*server, "zeek.conn", 1, 10);
  auto options = reading();
  options.start.at = start_position::kind::end;
  const auto reader = reader_of(make_reader(at(*server), options));
  std::vector<bridge::fetched_record> got;
  CHECK(eventually([&] {
    reader->fetch(got, 10, 10ms);
    return reader->at_end();
  }));
  CHECK(got.empty());
  server->kill();
  server->start();
  write_numbers(*server, "zeek.conn", 11, 20);
  got = fetch(*reader, 10);
  REQUIRE(got.size() == 10);
  CHECK(number_of(got.front()) == 11);
}

TEST_CASE("a consumer of NATS that was removed is made again behind what was committed") {
  const auto server = make_nats_server();
  if (!server)
    return;
  write_numbers(*server, "zeek.conn", 1, 20);
  const auto reader = reader_of(make_reader(at(*server), reading("g")));
  CHECK(fetch(*reader, 10).size() == 10);
  REQUIRE(reader->commit());
  tell(*server, "$JS.API.CONSUMER.DELETE.ZEEK.g");
  const auto got = fetch_all(*reader);
  CHECK(counted(got).size() == 10);
  CHECK(number_of(got.front()) == 11);
}

TEST_CASE("what NATS does not let a bridge acknowledge is not taken for done") {
  temporary_folder folder;
  const auto file = folder / "nats.conf";
  std::ofstream{file}
      << R"(authorization { users [ { user: all, password: p }, { user: u, password: p,
    permissions: { publish: { deny: "$JS.ACK.>" } } } ] })";
  const auto server = make_nats_server({"-c", file});
  if (!server)
    return;
  auto options = at(*server);
  const auto as = [&](const std::string& user) {
    options.url = "nats://" + user + ":p@127.0.0.1:" + std::to_string(server->port);
    return options;
  };
  driven_writer writer{make_writer(as("all"))};
  for (std::uint64_t i = 1; i <= 5; ++i)
    REQUIRE(writer.write(numbered_record("zeek.conn", i)));
  REQUIRE(writer.settle());
  const auto reader = reader_of(make_reader(as("u"), reading("g")));
  CHECK(fetch(*reader, 5).size() == 5);
  CHECK_FALSE(reader->commit());
  CHECK(reader->last_problem().find("ermission") != std::string::npos);
  // The server waits for it, and so does one who wants all.
  const auto next = reader_of(make_reader(as("all"), reading("g")));
  CHECK(fetch(*next, 1, 1s).empty());
  CHECK_FALSE(next->at_end());
}

TEST_CASE("what a bridge may not publish is refused, and the rest is written") {
  temporary_folder folder;
  const auto file = folder / "nats.conf";
  std::ofstream{file} << R"(authorization { users [ { user: u, password: p,
    permissions: { publish: { deny: "zeek.secret" } } } ] })";
  const auto server = make_nats_server({"-c", file});
  if (!server)
    return;
  auto options = at(*server);
  options.url = "nats://u:p@127.0.0.1:" + std::to_string(server->port);
  driven_writer writer{make_writer(options)};
  REQUIRE(writer.write(numbered_record("zeek.conn", 1)));
  REQUIRE(writer.write(numbered_record("zeek.secret", 2)));
  REQUIRE(writer.write(numbered_record("zeek.conn", 3)));
  REQUIRE(writer.settle());
  CHECK(writer.written == 2);
  CHECK(writer.refused == 1);
  CHECK(writer.why.find("zeek.secret") != std::string::npos);
}

TEST_CASE("a full stream of NATS that keeps what it has holds its writer back") {
  const auto server = make_nats_server();
  if (!server)
    return;
  tell(*server, "$JS.API.STREAM.CREATE.ZEEK",
       R"({"name":"ZEEK","subjects":["zeek.>"],"discard":"new","max_msgs":5,"storage":"file"})");
  driven_writer writer{make_writer(at(*server, ""))};
  for (std::uint64_t i = 1; i <= 10; ++i)
    REQUIRE(writer.write(numbered_record("zeek.conn", i)));
  CHECK(eventually([&] {
    writer.poll();
    return writer.written == 5 &&
           writer.writer->last_problem().find("maximum messages") != std::string::npos;
  }));
  CHECK(writer.refused == 0);
  tell(*server, "$JS.API.STREAM.PURGE.ZEEK");
  REQUIRE(writer.settle());
  CHECK(writer.written == 10);
}

TEST_CASE("a server that is not NATS makes no bridge fail, and no record is taken for written") {
  raw_listener listener;
  bridge::jetstream options;
  options.url = "nats://127.0.0.1:" + std::to_string(listener.port());
  options.stream = "ZEEK";
  driven_writer writer{make_writer(options)};
  REQUIRE(writer.write(numbered_record("zeek.conn", 1)));
  for (const std::string answer :
       {"\xff\x01 garbage\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "INFO {\r\n",
        "INFO {\"headers\":true,\"max_payload\":1000}\r\nPONG\r\nMSG x 9 -5\r\n"}) {
    CAPTURE(answer);
    std::vector<raw_socket> others;
    CHECK(eventually([&] {
      writer.poll();
      if (auto one = listener.accept(0ms))
        others.push_back(*std::move(one));
      return !others.empty();
    }));
    others.at(0).send(std::as_bytes(std::span{answer}));
    CHECK(eventually([&] {
      writer.poll();
      return !writer.writer->last_problem().empty();
    }));
  }
  CHECK(writer.settled.empty());
}

TEST_CASE("a source of NATS reads the subjects that it was told, each once") {
  const auto server = make_nats_server();
  if (!server)
    return;
  write_numbers(*server, "zeek.conn", 1, 10);
  write_numbers(*server, "zeek.dns", 11, 20);
  write_numbers(*server, "zeek.http", 21, 30);
  for (const std::string group : {"", "g"}) {
    const auto reader =
        reader_of(make_reader(at(*server), reading(group, {"zeek.conn", "zeek.http"})));
    const auto got = fetch_all(*reader);
    CHECK(got.size() == 20);
    CHECK(counted(got).size() == 20);
    CHECK(counted(got).count(15) == 0);
    CHECK(reader->commit());
  }
}

TEST_CASE("a bridge to a NATS server that is not there says so, and goes on once it is") {
  const auto program = find_program("nats-server");
  if (!program)
    return;
  bridge::jetstream options;
  const auto port = unused_port();
  options.url = "nats://u:secret@127.0.0.1:" + std::to_string(port);
  options.stream = "ZEEK";
  options.subjects = "zeek.>";
  driven_writer writer{make_writer(options)};
  REQUIRE(writer.write(numbered_record("zeek.conn", 1)));
  CHECK(eventually([&] {
    writer.poll();
    return !writer.writer->last_problem().empty();
  }));
  CHECK(writer.writer->last_problem().starts_with("nats://127.0.0.1:" + std::to_string(port)));
  CHECK(writer.writer->last_problem().find("secret") == std::string::npos);
  temporary_folder folder;
  server_process late{*program,
                      {"-a", "127.0.0.1", "-p", std::to_string(port), "-js", "-sd", folder / "nats",
                       "--user", "u", "--pass", "secret"}};
  CHECK(writer.settle());
  CHECK(writer.written == 1);
}

TEST_CASE("a bridge reaches a NATS server over TLS that knows it, and one that it trusts only") {
  authority own{"own authority"}, other{"other authority"};
  const auto files = own.issue("server", {}, 86400, "IP:127.0.0.1,DNS:localhost");
  const auto client = own.issue("client");
  const auto server = make_nats_server({"--tls", "--tlscert", files.certificate, "--tlskey",
                                        files.key, "--tlsverify", "--tlscacert", own.ca_file()});
  if (!server)
    return;
  auto options = at(*server);
  options.url = "tls://127.0.0.1:" + std::to_string(server->port);
  options.certificate = client.certificate;
  options.key = client.key;
  options.ca = other.ca_file();
  driven_writer mistrustful{make_writer(options)};
  REQUIRE(mistrustful.write(numbered_record("zeek.conn", 1)));
  CHECK(eventually([&] {
    mistrustful.poll();
    return !mistrustful.writer->last_problem().empty();
  }));
  CHECK(mistrustful.settled.empty());
  options.ca = own.ca_file();
  driven_writer writer{make_writer(options)};
  for (std::uint64_t i = 1; i <= 5000; ++i)
    REQUIRE(writer.write(numbered_record("zeek.conn", i, 100)));
  REQUIRE(writer.settle());
  CHECK(writer.written == 5000);
  CHECK(fetch_all(*reader_of(make_reader(options, reading("g")))).size() == 5000);
}

TEST_CASE("records wait for a NATS server that keeps nothing, and the bridge says so") {
  const auto program = find_program("nats-server");
  if (!program)
    return;
  const auto port = unused_port();
  server_process server{*program, {"-a", "127.0.0.1", "-p", std::to_string(port)}};
  bridge::jetstream options;
  options.url = "nats://127.0.0.1:" + std::to_string(port);
  for (const auto* stream : {"", "ZEEK"}) {
    options.stream = stream;
    driven_writer writer{make_writer(options)};
    REQUIRE(writer.write(numbered_record("zeek.conn", 1)));
    CHECK(eventually([&] {
      writer.poll();
      return writer.writer->last_problem().find("JetStream") != std::string::npos;
    }));
    CHECK(writer.settled.empty());
  }
}

TEST_CASE("a full writer of NATS takes no more, and never blocks while the server is stopped") {
  const auto server = make_nats_server();
  if (!server)
    return;
  driven_writer writer{make_writer(at(*server))};
  REQUIRE(writer.write(numbered_record("zeek.conn", 1)));
  REQUIRE(writer.settle());
  server->process->stop();
  auto longest = 0ns;
  for (std::uint64_t i = 2; i < 20'000; ++i) {
    auto record = numbered_record("zeek.conn", i, 2000);
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

TEST_CASE("what a bridge to NATS cannot use is said when it is made") {
  bridge::jetstream options;
  for (const auto* url : {"", "127.0.0.1:4222", "nats://", "nats://h:0", "nats://h:x",
                          "nats://h:70000", "http://h", "nats://a,", "nats://a,b"}) {
    CAPTURE(url);
    options.url = url;
    const auto made = make_writer(options);
    REQUIRE_FALSE(made);
    CHECK(made.error() == errc::invalid_argument);
  }
  options = {};
  CHECK_FALSE(make_reader(options, {}));
  options.stream = "a.b";
  CHECK_FALSE(make_writer(options));
  options.stream = "S";
  CHECK(make_reader(options, {}));
  CHECK_FALSE(make_reader(options, reading("a.b")));
  CHECK_FALSE(make_reader(options, reading("", {"a..b"})));
  auto begun = reading();
  begun.start = {start_position::kind::offset, {}, "0"};
  CHECK_FALSE(make_reader(options, begun));
  options.ca = "/nowhere/ca.pem";
  const auto made = make_writer(options);
  REQUIRE_FALSE(made);
  CHECK(made.error().context().find("/nowhere/ca.pem") != std::string::npos);
}
