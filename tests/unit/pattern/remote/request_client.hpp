// A client of a service whose clock and network are driven by hand.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "pattern/remote/request_table.hpp"
#include "support/ids.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace pubsub::pattern {

struct request {
  endpoint_id to;
  std::uint64_t stream = 0, first = 0;
  std::vector<std::uint64_t> arguments;
};

struct client final : remote_port {
  explicit client(const remote_options& options = of_mode(remote_mode::pipeline))
      : table(test::id_of(100), "s", options, *this) {}

  static remote_options of_mode(remote_mode mode) {
    remote_options result;
    result.mode = mode;
    return result;
  }
  static remote_options hybrid_of(std::size_t bulk, std::size_t window) {
    auto result = of_mode(remote_mode::hybrid);
    result.bulk_operations = bulk;
    result.window_operations = window;
    return result;
  }
  partner::outcome to_instance(const endpoint_id& id, std::span<const std::byte> message) override {
    if (full || full_ones.contains(id))
      return partner::outcome::full;
    if (message.size() > longest)
      return partner::outcome::too_long;
    const auto view = data_view::make(message);
    REQUIRE(view.has_value());
    if (parse<cancel_request>(*view)) {
      ++cancels;
      return partner::outcome::sent;
    }
    const auto parsed = parse<request_view>(*view);
    REQUIRE(parsed);
    request one{id, parsed->stream, parsed->first, {}};
    for (const auto& each : parsed->arguments.elements())
      one.arguments.push_back(each.type() == data_type::count ? each.as_count() : 0);
    sent.push_back(one);
    return partner::outcome::sent;
  }
  bool is_served() override { return served; }

  void meet(std::uint8_t n, bool idempotent = false, bool leaving = false) {
    hear(service_status{test::id_of(n), leaving, 1, {{"op", idempotent}}});
  }
  void hear(const auto& message) {
    data_writer out;
    write(out, message);
    table.receive(make_data_message("t", data_view::make(out.bytes())->to_data()), now);
  }
  std::shared_ptr<remote_call> add(std::uint64_t argument,
                                   std::chrono::milliseconds limit = std::chrono::seconds{10}) {
    data_writer out;
    out.write_count(argument);
    return table.add("op", out.bytes(), now + limit, now);
  }
  std::vector<std::shared_ptr<remote_call>> add_many(std::uint64_t n) {
    std::vector<std::shared_ptr<remote_call>> result;
    for (std::uint64_t i = 0; i < n; ++i)
      result.push_back(add(i));
    return result;
  }
  /// The results are the arguments, and errors at these indexes.
  void answer(const request& to, const std::map<std::size_t, error>& failed = {}) {
    service_reply<value_list> reply;
    reply.instance = to.to;
    reply.stream = to.stream;
    reply.places = {{to.first, to.arguments.size()}};
    data_writer results;
    for (std::size_t i = 0; i < to.arguments.size(); ++i) {
      const auto wrong = failed.find(i);
      if (wrong == failed.end()) {
        results.write_count(to.arguments[i]);
        continue;
      }
      reply.failed.push_back({i, 1});
      write_error(results, wrong->second);
    }
    reply.results = {to.arguments.size(), results.bytes()};
    hear(reply);
  }
  request take() {
    REQUIRE_FALSE(sent.empty());
    const auto result = sent.front();
    sent.pop_front();
    return result;
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    table.tick(now);
  }
  bool adds_up() const {
    const auto& x = table.counters();
    return x.submitted == x.done + x.failed + table.unfinished();
  }

  bool full = false, served = true;
  std::set<endpoint_id> full_ones;
  std::size_t longest = 1'000'000;
  std::size_t cancels = 0;
  std::deque<request> sent;
  request_table::time now{std::chrono::hours{1}};
  request_table table;
};

inline bool done(const std::shared_ptr<remote_call>& call) {
  return call->done;
}

} // namespace pubsub::pattern
