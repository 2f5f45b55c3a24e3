// libzmq as a peer. Locally PUB/SUB or PUSH/PULL over inproc, across processes PUB/SUB over TCP
// with zmq_proxy as relay. XPUB stands for PUB everywhere: told to make a publisher wait instead of
// dropping (ZMQ_XPUB_NODROP), and able to say when the subscription has come.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/numbered.hpp"
#include "support/run.hpp"
#include "support/zmq_handles.hpp"

namespace bench {

namespace {

constexpr const char* version = PEER_VERSION;
constexpr const char* local_address = "inproc://stream";

void publish_over(zmq_end& out, run_state& state, const run_options& options) {
  if (!options.repeated())
    return publish_stream(state, options, 0, [&](auto message) {
      checked(zmq_send(out.handle(), message.data(), message.size(), 0), "zmq_send");
    });
  zmq_message shared;
  zmq_msg_init_size(shared.get(), options.payload_bytes);
  std::memset(zmq_msg_data(shared.get()), 0, options.payload_bytes);
  publish_stream(state, options, 0, [&](auto message) {
    if (number_of(message.data()) == end_mark) {
      checked(zmq_send(out.handle(), message.data(), message.size(), 0), "zmq_send");
      return;
    }
    zmq_msg_t copy; // shares the storage of a long message; sending takes it
    zmq_msg_init(&copy);
    checked(zmq_msg_copy(&copy, shared.get()), "zmq_msg_copy");
    checked(zmq_msg_send(&copy, out.handle(), 0), "zmq_msg_send");
  });
}

void receive_from(zmq_end& in, run_state& state, const run_options& options) {
  numbered_sink sink{state, options};
  zmq_message message;
  do
    checked(zmq_msg_recv(message.get(), in.handle(), 0), "zmq_msg_recv");
  while (sink.take(message.data()));
}

void wait_for_subscription(zmq_end& xpub) {
  zmq_message subscription;
  checked(zmq_msg_recv(subscription.get(), xpub.handle(), 0), "zmq_msg_recv");
}

int run_local(const run_options& options) {
  zmq_context context;
  bool pubsub = options.pattern == "pubsub";
  zmq_end in{context, pubsub ? ZMQ_SUB : ZMQ_PULL};
  zmq_end out{context, pubsub ? ZMQ_XPUB : ZMQ_PUSH};
  out.bind(local_address);
  in.connect(local_address);
  if (pubsub)
    wait_for_subscription(out);
  return run("libzmq", version, options,
             {.subscribe = [&](run_state& state) { receive_from(in, state, options); },
              .relay = {},
              .publish = [&](run_state& state) { publish_over(out, state, options); }});
}

void subscribe(run_state& state, const run_options& options) {
  zmq_context context;
  zmq_end in{context, ZMQ_SUB};
  state.tell_port(0, in.bind_tcp());
  receive_from(in, state, options);
}

void relay(run_state& state, unsigned stage) {
  zmq_context context;
  zmq_end in{context, ZMQ_XSUB};
  zmq_end out{context, ZMQ_XPUB};
  out.connect(tcp_address(state.wait_for_port(stage - 1)));
  state.tell_port(stage, in.bind_tcp());
  zmq_proxy(in.handle(), out.handle(), nullptr); // forwards the subscription the other way
}

void publish(run_state& state, const run_options& options) {
  zmq_context context;
  zmq_end out{context, ZMQ_XPUB};
  out.connect(tcp_address(state.wait_for_port(options.relays)));
  wait_for_subscription(out);
  publish_over(out, state, options);
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse_options(argc, argv, "libzmq as a peer.", {"pubsub", "pushpull"});
  if (options.local())
    return run_local(options);
  if (options.pattern != "pubsub")
    return report_unavailable("libzmq", "chains are measured with PUB/SUB");
  return run("libzmq", version, options,
             {.subscribe = [&](run_state& state) { subscribe(state, options); },
              .relay = relay,
              .publish = [&](run_state& state) { publish(state, options); }});
}
