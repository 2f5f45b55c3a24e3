#include "connection.hpp"

#include "terminal.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace pubsub::tool {

void add_connection_options(CLI::App& command, connection_options& options) {
  command
      .add_option("--listen", options.listen,
                  "Accept peers at HOST:PORT; port 0 picks one (repeatable)")
      ->type_name("ADDRESS");
  command
      .add_option("--peer", options.peers, "Connect to HOST:PORT and stay connected (repeatable)")
      ->type_name("ADDRESS");
  command
      .add_option("--connect-timeout", options.connect_timeout_s,
                  "Seconds to wait for a peer at the start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--wire-version", options.wire_version,
                  "Newest version of the peering protocol to offer; 1 is Zeek's Broker")
      ->check(CLI::Range(1U, 2U))
      ->capture_default_str();
  command
      .add_option("--io-threads", options.io_threads,
                  "Threads that serve links; a busy relay may use one per processor")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
}

std::string listen_address(const std::string& asked, std::uint16_t port) {
  auto address = asked.substr(0, asked.rfind(':'));
  if (address.find("://") == std::string::npos)
    address = "tcp://" + (address.empty() ? "*" : address);
  return fmt::format("{}:{}", address, port);
}

exit_code connect(endpoint& ep, const connection_options& options, peering how) {
  for (const auto& address : options.listen) {
    auto port = ep.listen(address);
    if (!port)
      return fail(port.error());
    if (how == peering::wait)
      fmt::print(stderr, "listening on {}\n", listen_address(address, *port));
  }
  peer_options patience;
  patience.timeout = std::chrono::milliseconds{static_cast<long>(options.connect_timeout_s * 1000)};
  for (const auto& address : options.peers) {
    auto done =
        how == peering::wait ? ep.peer(address, patience) : ep.peer_async(address, patience);
    if (!done)
      return fail(done.error());
  }
  return exit_code::ok;
}

} // namespace pubsub::tool
