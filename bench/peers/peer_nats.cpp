// NATS as a peer: nats-server as relays, each but the last a leaf node of the next, and the C
// client at both ends. A server drops a client that reads too slowly, so no more than a window of
// messages is on its way; the subscriber's client may keep all of them.
// SPDX-License-Identifier: BSD-3-Clause
#include "peers/nats_handles.hpp"
#include "support/numbered.hpp"
#include "support/run.hpp"

namespace bench {

namespace {

constexpr std::uint64_t window = 262'144;
constexpr const char* subject = "bench.stream";

// Receives on the client's own thread, its fastest way.
class stream_subscription {
public:
  stream_subscription(const nats_client& client, run_state& state, const run_options& options)
      : sink_(state, options) {
    check(natsConnection_Subscribe(&handle_, client.get(), subject, visit, this), "subscribe");
    check(natsSubscription_SetPendingLimits(handle_, -1, -1), "natsSubscription_SetPendingLimits");
    check(natsConnection_Flush(client.get()), "natsConnection_Flush");
  }
  stream_subscription(const stream_subscription&) = delete;
  stream_subscription& operator=(const stream_subscription&) = delete;
  ~stream_subscription() { natsSubscription_Destroy(handle_); }

private:
  static void visit(natsConnection*, natsSubscription*, natsMsg* message, void* self) {
    static_cast<stream_subscription*>(self)->sink_.take(natsMsg_GetData(message));
    natsMsg_Destroy(message);
  }

  numbered_sink sink_;
  natsSubscription* handle_ = nullptr;
};

void subscribe(run_state& state, const run_options& options, int port) {
  nats_client client{port};
  stream_subscription subscription{client, state, options};
  state.wait_for_end();
}

void publish(run_state& state, const run_options& options, int port) {
  nats_client client{port};
  auto send = [&](std::span<const std::byte> message) {
    check(natsConnection_Publish(client.get(), subject, message.data(),
                                 static_cast<int>(message.size())),
          "natsConnection_Publish");
  };
  probe_until_seen(state, options.payload_bytes, send);
  publish_stream(state, options, window, send);
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse_options(argc, argv, "NATS as a peer.");
  if (options.local() || options.relays == 0)
    return report_unavailable("NATS", "always has a server in between");
  auto program = find_program("nats-server");
  if (program.empty())
    return report_unavailable("NATS", "not installed: nats-server");
  server_chain servers{program, options.relays};
  return run(
      "NATS", NATS_VERSION_STRING, options,
      {.subscribe = [&](run_state& state) { subscribe(state, options, servers.subscriber_port()); },
       .relay = [&](run_state&, unsigned stage) { servers.become(stage); },
       .publish = [&](run_state& state) { publish(state, options, servers.publisher_port()); }});
}
