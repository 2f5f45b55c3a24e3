// Remote operations by NATS: requests with an inbox for the replies, through one nats-server. A
// window of requests is under way.
// SPDX-License-Identifier: BSD-3-Clause
#include "peers/nats_handles.hpp"
#include "support/requests.hpp"
#include "support/run.hpp"

#include <vector>

namespace bench {

namespace {

constexpr const char* subject = "bench.remote";
constexpr const char* inbox = "bench.remote.replies";
constexpr std::int64_t patience_ms = 20'000;
constexpr unsigned server_stage = 0;

class subscription {
public:
  explicit subscription(natsSubscription* handle) : handle_(handle) {}
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;
  ~subscription() { natsSubscription_Destroy(handle_); }
  natsSubscription* get() const noexcept { return handle_; }

private:
  natsSubscription* handle_;
};

/// What the client's own thread answers requests with.
struct answers {
  std::vector<char> zeros;

  static void give(natsConnection* to, natsSubscription*, natsMsg* request, void* self) {
    const auto& zeros = static_cast<answers*>(self)->zeros;
    natsConnection_Publish(to, natsMsg_GetReply(request), zeros.data(),
                           static_cast<int>(zeros.size()));
    natsMsg_Destroy(request);
  }
};

void serve(run_state& state, const run_options& options, int port) {
  const nats_client client{port};
  answers all{std::vector<char>(options.payload_bytes)};
  natsSubscription* handle = nullptr;
  check(natsConnection_Subscribe(&handle, client.get(), subject, answers::give, &all), "subscribe");
  const subscription held{handle};
  check(natsConnection_Flush(client.get()), "natsConnection_Flush");
  state.tell_port(server_stage, port); // now it is there
  state.wait_for_end();
}

void request(run_state& state, const run_options& options, int port) {
  const nats_client client{port};
  natsSubscription* handle = nullptr;
  check(natsConnection_SubscribeSync(&handle, client.get(), inbox), "subscribe");
  const subscription replies{handle};
  check(natsConnection_Flush(client.get()), "natsConnection_Flush");
  state.wait_for_port(server_stage);
  const char argument[request_bytes] = {};
  ask(
      state, options, request_window,
      [&] {
        check(
            natsConnection_PublishRequest(client.get(), subject, inbox, argument, sizeof argument),
            "natsConnection_PublishRequest");
      },
      [&] {
        natsMsg* reply = nullptr;
        check(natsSubscription_NextMsg(&reply, replies.get(), patience_ms),
              "natsSubscription_NextMsg");
        const auto size = natsMsg_GetDataLength(reply);
        natsMsg_Destroy(reply);
        check_reply(static_cast<std::size_t>(size), options);
        return 1U;
      });
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const auto options = parse_options(argc, argv, "Remote operations by NATS.");
  if (options.local() || options.relays != 1)
    return report_unavailable("NATS", "always has one server in between");
  const auto program = find_program("nats-server");
  if (program.empty())
    return report_unavailable("NATS", "not installed: nats-server");
  const server_chain servers{program, options.relays};
  return run(
      "NATS", NATS_VERSION_STRING, options,
      {.subscribe = [&](run_state& state) { serve(state, options, servers.subscriber_port()); },
       .relay = [&](run_state&, unsigned stage) { servers.become(stage); },
       .publish = [&](run_state& state) { request(state, options, servers.publisher_port()); }});
}
