// Needs pubsub::bridge: one to each engine, of which none is here, and the tables of a log.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/bridge/clickhouse.hpp>
#include <pubsub/bridge/sink.hpp>
#include <pubsub/bridge/source.hpp>
#include <pubsub/endpoint.hpp>

#include <chrono>
#include <cstdio>

namespace {

using namespace pubsub;

/// Whether a sink begins to wait for the engine, and has lost nothing when it ends.
bool waits(const endpoint& ep, const bridge::engine& to) {
  bridge::sink_options options;
  options.topics = {"zeek/logs/"};
  options.close_timeout = std::chrono::nanoseconds{0};
  auto made = bridge::sink::open(ep, to, options);
  if (!made) {
    std::puts(made.error().message().c_str());
    return false;
  }
  made->close();
  return made->closed() && made->counters().consumed == 0;
}

} // namespace

int main() {
  const endpoint ep;
  bridge::kafka kafka;
  kafka.brokers = "127.0.0.1:1";
  bridge::jetstream nats;
  nats.url = "nats://127.0.0.1:1";
  bridge::redis redis;
  redis.url = "redis://127.0.0.1:1";
  if (!waits(ep, kafka) || !waits(ep, nats) || !waits(ep, redis))
    return 1;
  const auto tables = bridge::clickhouse_ddl({"conn", {{"ts", "time"}, {"uid", "string"}}, 1});
  if (!tables || !bridge::parse_start("offset:7"))
    return 1;
  std::fputs(tables->c_str(), stdout);
  return 0;
}
