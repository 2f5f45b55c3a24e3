// A limit of the relay chain: processes that only copy bytes from one TCP connection to the next.
// The publisher copies messages into a big buffer and numbers them, relays read and write whatever
// has come, the subscriber looks at every number.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/numbered.hpp"
#include "support/run.hpp"
#include "support/tcp.hpp"

#include <algorithm>

namespace bench {

namespace {

constexpr std::size_t write_bytes = std::size_t{64} << 10;
constexpr std::size_t read_bytes = std::size_t{256} << 10;

void publish(run_state& state, const run_options& options) {
  auto out = tcp_socket::connect(state.wait_for_port(options.relays));
  std::vector<std::byte> batch;
  batch.reserve(write_bytes + options.payload_bytes);
  publish_stream(state, options, 0, [&](auto message) {
    auto used = batch.size();
    batch.resize(used + message.size());
    std::memcpy(batch.data() + used, message.data(), message.size());
    if (batch.size() < write_bytes && number_of(message.data()) != end_mark)
      return;
    out.write_all(batch.data(), batch.size());
    batch.clear();
  });
}

void relay(run_state& state, unsigned stage) {
  tcp_listener listener;
  auto out = tcp_socket::connect(state.wait_for_port(stage - 1));
  state.tell_port(stage, listener.port());
  auto in = listener.accept();
  std::vector<std::byte> buffer(read_bytes);
  while (auto n = in.read_some(buffer.data(), buffer.size()))
    out.write_all(buffer.data(), n);
}

void subscribe(run_state& state, const run_options& options) {
  tcp_listener listener;
  state.tell_port(0, listener.port());
  auto in = listener.accept();
  numbered_sink sink{state, options};
  auto size = options.payload_bytes;
  std::vector<std::byte> buffer(std::max(read_bytes, 2 * size));
  for (std::size_t used = 0;;) {
    auto n = in.read_some(buffer.data() + used, buffer.size() - used);
    if (n == 0)
      throw std::runtime_error("the stream ended before its end mark");
    used += n;
    std::size_t at = 0;
    for (; used - at >= size; at += size)
      if (!sink.take(buffer.data() + at))
        return;
    std::memmove(buffer.data(), buffer.data() + at, used - at);
    used -= at;
  }
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse_options(argc, argv, "A chain of processes that copy bytes over TCP.");
  options.setup = "chain";
  return run("bare TCP copy", "", options,
             {.subscribe = [&](run_state& state) { subscribe(state, options); },
              .relay = relay,
              .publish = [&](run_state& state) { publish(state, options); }});
}
