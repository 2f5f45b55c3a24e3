// nng as a peer; relays are nng_device. PUSH/PULL makes a sender wait, so nothing is lost; its
// window only keeps the rest short that is in the sockets at the end, since nng writes several
// times faster than it reads. PUB/SUB drops what does not fit, so no more is on its way than the
// shortest queue holds.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/numbered.hpp"
#include "support/run.hpp"

#include <stdexcept>
#include <string>

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>

namespace bench {

namespace {

constexpr int queue_messages = 8192; // the most that nng allows
constexpr std::uint64_t pushpull_window = 32'768;
constexpr std::uint64_t pubsub_window = 4096;
constexpr const char* local_address = "inproc://stream";

void check(int result, const char* call) {
  if (result != 0)
    throw std::runtime_error(std::string{call} + ": " + nng_strerror(result));
}

// How the sockets of one pattern are opened.
struct pattern {
  int (*open_in)(nng_socket*);
  int (*open_out)(nng_socket*);
  int (*open_in_raw)(nng_socket*);
  int (*open_out_raw)(nng_socket*);
  std::uint64_t window;
};

constexpr pattern pushpull{nng_pull0_open, nng_push0_open, nng_pull0_open_raw, nng_push0_open_raw,
                           pushpull_window};
constexpr pattern pubsub{nng_sub0_open, nng_pub0_open, nng_sub0_open_raw, nng_pub0_open_raw,
                         pubsub_window};

class nng_end {
public:
  explicit nng_end(int (*open)(nng_socket*)) {
    check(open(&socket_), "nng open");
    // A protocol without such a queue says so; that is no failure.
    nng_socket_set_int(socket_, NNG_OPT_SENDBUF, queue_messages);
    nng_socket_set_int(socket_, NNG_OPT_RECVBUF, queue_messages);
    nng_socket_set(socket_, NNG_OPT_SUB_SUBSCRIBE, "", 0);
  }
  nng_end(const nng_end&) = delete;
  nng_end& operator=(const nng_end&) = delete;
  ~nng_end() { nng_close(socket_); }

  nng_socket get() const noexcept { return socket_; }
  void dial(const std::string& address) {
    check(nng_dial(socket_, address.c_str(), nullptr, 0), "nng_dial");
  }
  int listen_tcp() {
    nng_listener listener;
    check(nng_listen(socket_, "tcp://127.0.0.1:0", &listener, 0), "nng_listen");
    nng_sockaddr address;
    check(nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &address), "nng_listener_get_addr");
    auto bytes = reinterpret_cast<const unsigned char*>(&address.s_in.sa_port); // network order
    return bytes[0] << 8 | bytes[1];
  }

private:
  nng_socket socket_{};
};

std::string tcp_address(int port) {
  return "tcp://127.0.0.1:" + std::to_string(port);
}

void send(const nng_end& out, std::span<const std::byte> message) {
  check(nng_send(out.get(), const_cast<std::byte*>(message.data()), message.size(), 0), "nng_send");
}

void publish_over(const nng_end& out, run_state& state, const run_options& options,
                  std::uint64_t window) {
  auto send_out = [&](auto message) { send(out, message); };
  probe_until_seen(state, options.payload_bytes, send_out);
  publish_stream(state, options, window, send_out);
}

void receive_from(const nng_end& in, run_state& state, const run_options& options) {
  numbered_sink sink{state, options};
  for (bool more = true; more;) {
    nng_msg* message = nullptr;
    check(nng_recvmsg(in.get(), &message, 0), "nng_recvmsg");
    more = sink.take(nng_msg_body(message));
    nng_msg_free(message);
  }
}

int run_local(const run_options& options, const pattern& sockets) {
  nng_end in{sockets.open_in};
  nng_end out{sockets.open_out};
  check(nng_listen(in.get(), local_address, nullptr, 0), "nng_listen");
  out.dial(local_address);
  return run(
      "nng", nng_version(), options,
      {.subscribe = [&](run_state& state) { receive_from(in, state, options); },
       .relay = {},
       .publish = [&](run_state& state) { publish_over(out, state, options, sockets.window); }});
}

void subscribe(run_state& state, const run_options& options, const pattern& sockets) {
  nng_end in{sockets.open_in};
  state.tell_port(0, in.listen_tcp());
  receive_from(in, state, options);
}

void relay(run_state& state, unsigned stage, const pattern& sockets) {
  nng_end in{sockets.open_in_raw};
  nng_end out{sockets.open_out_raw};
  out.dial(tcp_address(state.wait_for_port(stage - 1)));
  state.tell_port(stage, in.listen_tcp());
  check(nng_device(in.get(), out.get()), "nng_device");
}

void publish(run_state& state, const run_options& options, const pattern& sockets) {
  nng_end out{sockets.open_out};
  out.dial(tcp_address(state.wait_for_port(options.relays)));
  publish_over(out, state, options, sockets.window);
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse_options(argc, argv, "nng as a peer.", {"pushpull", "pubsub"});
  if (options.repeated())
    return report_unavailable("nng", "1.5 cannot send one message twice");
  const auto& sockets = options.pattern == "pubsub" ? pubsub : pushpull;
  if (options.local())
    return run_local(options, sockets);
  return run("nng", nng_version(), options,
             {.subscribe = [&](run_state& state) { subscribe(state, options, sockets); },
              .relay = [&](run_state& state, unsigned stage) { relay(state, stage, sockets); },
              .publish = [&](run_state& state) { publish(state, options, sockets); }});
}
