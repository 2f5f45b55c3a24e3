// A limit of the round trip: two processes that pass one message to and fro over TCP, waiting in
// read (--mode blocking) or asking the socket again and again (--mode busy).
#include "support/run_state.hpp"
#include "support/tcp.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

struct ping_options {
  bool busy = false;
  std::size_t payload_bytes = 100;
  unsigned count = 20'000;
};

void receive(tcp_socket& socket, std::vector<std::byte>& message, bool busy) {
  if (!busy)
    return socket.read_all(message.data(), message.size());
  for (std::size_t got = 0; got < message.size();)
    got += socket.try_read(message.data() + got, message.size() - got);
}

void echo(tcp_socket socket, const ping_options& options) {
  std::vector<std::byte> message(options.payload_bytes);
  if (options.busy)
    socket.set_nonblocking();
  for (;;) {
    receive(socket, message, options.busy);
    socket.write_all(message.data(), message.size());
  }
}

std::vector<double> measure(tcp_socket socket, const ping_options& options) {
  using clock = std::chrono::steady_clock;
  std::vector<std::byte> message(options.payload_bytes);
  std::vector<double> trips_us;
  trips_us.reserve(options.count);
  if (options.busy)
    socket.set_nonblocking();
  for (unsigned i = 0; i < options.count; ++i) {
    auto begin = clock::now();
    socket.write_all(message.data(), message.size());
    receive(socket, message, options.busy);
    trips_us.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
  }
  return trips_us;
}

void report(std::vector<double> trips_us, const ping_options& options) {
  std::sort(trips_us.begin(), trips_us.end());
  auto at = [&](double part) {
    return trips_us[static_cast<std::size_t>(part * static_cast<double>(trips_us.size() - 1))];
  };
  std::printf("{\"peer\":\"bare ping\",\"mode\":\"%s\",\"count\":%zu,\"p50_us\":%.2f,"
              "\"p90_us\":%.2f,\"p99_us\":%.2f,\"min_us\":%.2f,\"max_us\":%.2f}\n",
              options.busy ? "busy" : "blocking", trips_us.size(), at(0.5), at(0.9), at(0.99),
              trips_us.front(), trips_us.back());
}

int run(const ping_options& options) {
  tcp_listener listener;
  auto child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      echo(tcp_socket::connect(listener.port()), options);
    } catch (const std::exception&) { // the measuring side is done
    }
    ::_exit(0);
  }
  report(measure(listener.accept(), options), options); // closes the socket, which ends the echo
  ::waitpid(child, nullptr, 0);
  return 0;
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  bench::ping_options options;
  CLI::App app{"A bare TCP ping-pong between two processes over loopback."};
  app.add_option_function<std::string>(
         "--mode", [&](const std::string& mode) { options.busy = mode == "busy"; },
         "blocking (the default) or busy")
      ->check(CLI::IsMember({"blocking", "busy"}));
  app.add_option("--payload", options.payload_bytes, "Bytes of the message")
      ->check(CLI::Range(1U, 1U << 16))
      ->capture_default_str();
  app.add_option("--count", options.count, "Round trips")
      ->check(CLI::Range(1U, 100'000'000U))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return bench::run(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bare_ping: %s\n", problem.what());
    return 2;
  }
}
