// Any bytes as what replicas and clients of a group say to each other: written as it was read, and
// whatever it says, who hears it stays in order.
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "pattern/versioned/protocol/client_window.hpp"
#include "pattern/versioned/protocol/replica_protocol.hpp"

namespace pubsub::fuzz {

namespace {

using namespace pattern;

endpoint_id id_of(std::uint8_t n) {
  endpoint_id::bytes_type bytes{};
  bytes.fill(n);
  return endpoint_id{bytes};
}

/// Nobody is there.
struct silence final : versioned_port {
  bool send(versioned_target, const endpoint_id&, std::span<const std::byte>) override {
    return true;
  }
};

void read_and_write(const data_view& value) {
  const auto what = parse_message(value);
  if (!what)
    return;
  data_writer out;
  write_message(out, *what);
  const auto again = data_view::make(out.bytes());
  check(again.has_value() && parse_message(*again).has_value(),
        "what was read can be written and read again");
}

/// By one that is alone in its group and stamps, and by one that looks for others.
void hear(const data_message& msg) {
  silence port;
  const auto begin = replica_protocol::clock::now();
  for (const std::size_t size : {1U, 3U}) {
    replica_options options;
    options.group_size = size;
    replica_protocol replica{id_of(1), "a", options, port, begin};
    auto now = begin;
    for (int i = 0; i < 12; ++i)
      replica.tick(now += std::chrono::milliseconds{200});
    for (int i = 0; i < 2; ++i) {
      replica.receive(msg, now);
      replica.settle(now);
      replica.tick(now += std::chrono::milliseconds{200});
    }
    std::vector<versioned_message> out;
    replica.take(out, 1'000);
    std::uint64_t last = 0;
    for (const auto& each : out)
      if (each.version.number > 0)
        check(each.version.number == ++last, "numbers have no gap");
  }
  client_window window{id_of(2), "g", {}, port, begin};
  data_writer value;
  value.write_count(1);
  window.add(value.bytes(), begin);
  window.receive(msg, begin);
  window.tick(begin + std::chrono::milliseconds{300});
  const auto& counted = window.counters();
  check(counted.sent == counted.acknowledged + counted.failed + window.in_flight(),
        "every message is acknowledged, given up or in flight");
}

} // namespace

void try_input(std::span<const std::byte> input) {
  const auto value = data_view::make(input);
  if (!value)
    return;
  read_and_write(*value);
  hear(make_data_message("t", value->to_data()));
}

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  const auto keep = [&](const auto& x) {
    data_writer out;
    write_message(out, x);
    result.emplace_back(reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size());
  };
  data_writer two;
  two.write_count(1);
  two.write_string("x");
  const value_list values{2, two.bytes()};
  const stamped_run run{1, 2, {1, 1}, 1};
  const id_list members{id_of(1), id_of(3), id_of(4)};
  keep(hello_message{id_of(2)});
  keep(status_message{id_of(9), id_of(3), "b", 3, 100, 1, 1, true, true, 2, 2, 1, 1, 3, members});
  keep(submit_message{id_of(9), id_of(2), 1, 1, 4, values});
  keep(request_message{id_of(9), id_of(2), 1, 1, 2});
  keep(granted_message{id_of(3), 1, true, {run}});
  keep(record_message{id_of(9), 1, 2, 1, id_of(2), run, values});
  keep(stamp_message{id_of(9), 1, 2, id_of(2), run});
  keep(tagged_message{id_of(9), id_of(2), 1, 1, id_of(3), values});
  keep(plain_message{id_of(2), 1, values});
  keep(ack_message{id_of(3), 1, {run}});
  keep(done_message{{run}});
  keep(held_message{id_of(9), id_of(3), 1, 1, 2});
  keep(commit_message{id_of(9), 1, 2});
  keep(fetch_message{id_of(9), id_of(3), 1, 1});
  keep(prepare_message{id_of(9), id_of(3), 2, members});
  keep(promise_message{id_of(9), id_of(3), 2, 1, 1, members});
  keep(start_message{id_of(9), id_of(3), 3, 2, 1, members, 1, 3, {{2, 1}, {3, 2}}});
  data_writer state;
  state.write_count(5);
  keep(snapshot_message{id_of(9), 1, {1, 2}, {{id_of(2), 3, {run}}}, {1, state.bytes()}});
  keep(gone_message{id_of(9), 1, 4});
  return result;
}

std::vector<std::string> words() {
  return {std::string(16, '\1'), std::string(16, '\2'), std::string(16, '\3'),
          std::string(16, '\t')};
}

} // namespace pubsub::fuzz
