// Servers that keep records, and writers and readers of bridges that are driven by hand.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/engine/engine_writer.hpp"
#include "support/eventually.hpp"
#include "support/raw_socket.hpp"
#include "support/server_process.hpp"
#include "support/temporary_folder.hpp"

namespace pubsub::test {

/// A server on a port of its own that keeps its records in a folder, over restarts.
struct engine_server {
  temporary_folder folder;
  std::uint16_t port = unused_port();
  std::unique_ptr<server_process> process;

  void wait() const {
    REQUIRE(eventually([this] { return server_process::answers(port); }));
  }
  void kill() const { process->kill(); }
  void start() const { process->start(); }
};

/// Null, with a line that says so, where the program is missing.
inline std::unique_ptr<engine_server> make_nats_server(std::vector<std::string> more = {}) {
  const auto program = find_program("nats-server");
  if (!program) {
    MESSAGE("skipped: nats-server is not installed");
    return nullptr;
  }
  auto result = std::make_unique<engine_server>();
  std::vector<std::string> arguments{
      "-a", "127.0.0.1", "-p", std::to_string(result->port), "-js", "-sd", result->folder / "nats"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  result->process = std::make_unique<server_process>(*program, arguments);
  result->wait();
  return result;
}

inline std::unique_ptr<engine_server> make_redis_server(std::vector<std::string> more = {}) {
  const auto program = find_program("redis-server");
  if (!program) {
    MESSAGE("skipped: redis-server is not installed");
    return nullptr;
  }
  auto result = std::make_unique<engine_server>();
  std::vector<std::string> arguments{
      "--bind", "127.0.0.1",         "--port", std::to_string(result->port),
      "--dir",  result->folder / "", "--save", ""};
  arguments.insert(arguments.end(), more.begin(), more.end());
  result->process = std::make_unique<server_process>(*program, arguments);
  result->wait();
  return result;
}

/// Sends one line to a Redis server and reads the beginning of its answer.
inline std::string ask(const engine_server& server, const std::string& line) {
  auto socket = raw_socket::connect(server.port);
  const auto text = line + "\r\n";
  socket.send(std::as_bytes(std::span{text}));
  const auto first = socket.read(1);
  std::string result{reinterpret_cast<const char*>(first.data()), first.size()};
  while (!result.ends_with("\r\n")) {
    const auto next = socket.read(1);
    if (next.empty())
      break;
    result += static_cast<char>(next[0]);
  }
  return result;
}

/// A writer and what became of its records.
struct driven_writer {
  std::unique_ptr<bridge::engine_writer> writer;
  std::uint64_t next = 1;
  std::uint64_t written = 0, refused = 0, timed_out = 0;
  std::string why;
  std::set<std::uint64_t> settled;

  explicit driven_writer(expected<std::unique_ptr<bridge::engine_writer>> made) {
    REQUIRE(made);
    writer = *std::move(made);
  }
  void poll() {
    writer->poll(
        [this](std::uint64_t number, bridge::outcome what, std::size_t, std::string_view text) {
          CHECK(settled.insert(number).second);
          written += what == bridge::outcome::written;
          refused += what == bridge::outcome::refused;
          timed_out += what == bridge::outcome::timed_out;
          if (what != bridge::outcome::written)
            why = text;
        });
  }
  /// As a sink does: waits for the descriptor and the time that the writer names.
  void wait(std::chrono::milliseconds limit) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        writer->due() - bridge::engine_writer::clock::now());
    pollfd one{writer->fd(), POLLIN, 0};
    ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(0, std::min(limit, left).count())));
  }
  /// False if there was no room for it until the deadline.
  bool write(bridge::engine_record record, std::chrono::milliseconds limit = patience) {
    const auto until = std::chrono::steady_clock::now() + limit;
    record.number = next;
    while (!writer->write(record)) {
      writer->hurry();
      wait(std::chrono::milliseconds{100});
      poll();
      if (std::chrono::steady_clock::now() > until)
        return false;
    }
    ++next;
    return true;
  }
  bool settle(std::chrono::milliseconds limit = patience) {
    const auto until = std::chrono::steady_clock::now() + limit;
    writer->hurry();
    while (settled.size() + 1 < next) {
      wait(std::chrono::milliseconds{100});
      poll();
      if (std::chrono::steady_clock::now() > until)
        return false;
    }
    return true;
  }
};

/// A record of which each has its number, from a publisher of its own.
inline bridge::engine_record numbered_record(const std::string& to, std::uint64_t number,
                                             std::size_t size = 0) {
  bridge::engine_record result;
  result.to = to;
  auto payload = std::to_string(number);
  payload.resize(std::max(size, payload.size()), ' ');
  result.payload = std::move(payload);
  result.from.topic = "zeek/logs/conn";
  result.from.origin = "6fa459ea-ee8a-3ca4-894e-db77e160355e";
  result.from.sequence = number;
  result.from.network = "test";
  result.from.format = bridge::payload_format::zeek_json;
  result.number = number;
  return result;
}

inline std::unique_ptr<bridge::engine_reader>
reader_of(expected<std::unique_ptr<bridge::engine_reader>> made) {
  if (!made)
    FAIL(made.error().message());
  return *std::move(made);
}

/// Fetches until there are `count` records, or the deadline has passed.
inline std::vector<bridge::fetched_record> fetch(bridge::engine_reader& from, std::size_t count,
                                                 std::chrono::milliseconds limit = patience) {
  std::vector<bridge::fetched_record> result;
  const auto until = std::chrono::steady_clock::now() + limit;
  while (result.size() < count && std::chrono::steady_clock::now() < until && !from.failure())
    from.fetch(result, std::min<std::size_t>(count - result.size(), 1000),
               std::chrono::milliseconds{100});
  return result;
}

/// Fetches until the reader says that it has come to the end; commits now and then.
inline std::vector<bridge::fetched_record> fetch_all(bridge::engine_reader& from,
                                                     std::chrono::milliseconds limit = patience) {
  std::vector<bridge::fetched_record> result;
  const auto until = std::chrono::steady_clock::now() + limit;
  auto commit_at = std::chrono::steady_clock::now();
  while (!from.failure()) {
    const auto before = result.size();
    from.fetch(result, 1000, std::chrono::milliseconds{100});
    const auto now = std::chrono::steady_clock::now();
    if (now > commit_at) {
      from.commit();
      commit_at = now + std::chrono::milliseconds{200};
    }
    if ((result.size() == before && from.at_end()) || now > until)
      return result;
  }
  return result;
}

inline std::uint64_t number_of(const bridge::fetched_record& x) {
  return std::strtoull(x.payload.c_str(), nullptr, 10);
}

/// How often each number is there.
inline std::map<std::uint64_t, int> counted(const std::vector<bridge::fetched_record>& all) {
  std::map<std::uint64_t, int> result;
  for (const auto& each : all)
    ++result[number_of(each)];
  return result;
}

} // namespace pubsub::test
