// Remote operations on libzmq: a DEALER sends requests, a ROUTER answers each with so many zeros. A
// window of requests is under way.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/requests.hpp"
#include "support/run.hpp"
#include "support/zmq_handles.hpp"

#include <stdexcept>
#include <vector>

namespace bench {

namespace {

constexpr int patience_ms = 20'000;
constexpr int glance_ms = 100; // at whether the run has ended
constexpr unsigned server_stage = 0;

// A message is the name of who asks, and the request.
void serve(run_state& state, const run_options& options) {
  const zmq_context context;
  zmq_end end{context, ZMQ_ROUTER};
  end.set(ZMQ_RCVTIMEO, glance_ms);
  state.tell_port(server_stage, end.bind_tcp());
  const std::vector<std::byte> zeros(options.payload_bytes);
  for (zmq_message name, request; !state.ended;) {
    if (zmq_msg_recv(name.get(), end.handle(), 0) < 0)
      continue;
    checked(zmq_msg_recv(request.get(), end.handle(), 0), "zmq_msg_recv");
    checked(zmq_msg_send(name.get(), end.handle(), ZMQ_SNDMORE), "zmq_msg_send");
    checked(zmq_send(end.handle(), zeros.data(), zeros.size(), 0), "zmq_send");
  }
}

void request(run_state& state, const run_options& options) {
  const zmq_context context;
  zmq_end end{context, ZMQ_DEALER};
  end.set(ZMQ_RCVTIMEO, patience_ms);
  end.connect(tcp_address(state.wait_for_port(server_stage)));
  const std::byte argument[request_bytes] = {};
  zmq_message reply;
  ask(
      state, options, request_window,
      [&] { checked(zmq_send(end.handle(), argument, sizeof argument, 0), "zmq_send"); },
      [&] {
        checked(zmq_msg_recv(reply.get(), end.handle(), 0), "zmq_msg_recv");
        check_reply(zmq_msg_size(reply.get()), options);
        return 1U;
      });
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const auto options = parse_options(argc, argv, "Remote operations on libzmq.");
  return run("libzmq", PEER_VERSION, options,
             {.subscribe = [&](run_state& state) { serve(state, options); },
              .relay = {},
              .publish = [&](run_state& state) { request(state, options); }});
}
