// SPDX-License-Identifier: BSD-3-Clause
#include "connection.hpp"

#include "clusters.hpp"
#include "manual/command_text.hpp"
#include "terminal.hpp"
#include "where_options.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

// As on the command line: drop-oldest.
std::string option_name(overflow_policy x) {
  std::string name{to_string(x)};
  std::ranges::replace(name, '_', '-');
  return name;
}

overflow_policy policy_named(const std::string& name) {
  return *std::ranges::find(all_overflow_policies, name, option_name);
}

void add_memory_options(CLI::App& command, shared_memory_options& options) {
  auto* const use = command.add_option_function<std::string>(
      "--shared-memory",
      [&options](const std::string& how) {
        options.use = how == "off" ? shared_memory::off : shared_memory::on;
        options.pages = how == "huge" ? memory_pages::huge : memory_pages::normal;
      },
      "Whether busy links at unix:// move from their socket to memory that both processes share; "
      "huge: with huge pages");
  allow_only(use, {"on", "off", "huge"})->default_str("on");
  command
      .add_option(
          "--memory-ring", options.ring_bytes,
          "Bytes of such memory for each direction of a link; the side that connects decides")
      ->check(CLI::Range(std::size_t{4096}, std::size_t{1} << 30))
      ->capture_default_str();
  command
      .add_option("--numa-node", options.numa_node,
                  "Where such memory should lie [where it is touched first]")
      ->check(CLI::Range(0U, 1023U));
}

} // namespace

endpoint_options connection_options::for_endpoint() const {
  endpoint_options result;
  result.name = name;
  result.max_wire_version = static_cast<std::uint8_t>(wire_version);
  result.io_threads = io_threads;
  result.liveness_timeout = std::chrono::milliseconds{static_cast<long>(liveness_timeout_s * 1000)};
  result.link_queue = link_queue;
  result.memory = memory;
  if (encrypts_peerings() || websockets.addresses.empty())
    result.tls = tls;
  result.gateways = cluster_gateways();
  result.regex = regular_expressions();
  return result;
}

endpoint_options only_asking(std::string name, const tls_options& tls) {
  endpoint_options result;
  result.name = std::move(name);
  result.tls = tls;
  result.forwarding = forwarding::off;
  result.serve_status = status_service::off;
  return result;
}

void add_connection_options(CLI::App& command, connection_options& options) {
  command
      .add_option("--name", options.name,
                  "What people call this endpoint, in the logs and the status of others too "
                  "[the name of the host]")
      ->type_name("NAME");
  command
      .add_option("--listen", options.listen,
                  "Accept peers at HOST:PORT, encrypted at tls://HOST:PORT, or at unix:///PATH "
                  "within the host; port 0 picks one "
                  "(repeatable)")
      ->type_name("ADDRESS");
  add_peer_options(command, options);
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
  add_queue_options(command, options.link_queue, "--link-policy", "--link-queue",
                    "the queue towards a peer");
}

void add_peer_options(CLI::App& command, connection_options& options) {
  command
      .add_option(
          "--peer", options.peers,
          "Connect to HOST:PORT, tls://HOST:PORT or unix:///PATH and stay connected (repeatable)")
      ->type_name("ADDRESS");
  command
      .add_option("--connect-timeout", options.connect_timeout_s,
                  "Seconds to wait for a peer at the start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option(
          "--retry", options.retry_s,
          "Seconds before a peer that cannot be reached is tried again; each time twice as long")
      ->check(CLI::Range(0.001, 86'400.0))
      ->capture_default_str();
  command.add_option("--max-retry", options.max_retry_s, "Seconds between attempts, at most")
      ->check(CLI::Range(0.001, 86'400.0))
      ->capture_default_str();
  command
      .add_option(
          "--liveness-timeout", options.liveness_timeout_s,
          "Cut off a peer that has said nothing for so many seconds; 0: never; give less than "
          "15 to both sides")
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  add_memory_options(command, options.memory);
  add_tls_options(command, options.tls, [&options] {
    return options.encrypts_peerings() ||
           std::ranges::any_of(options.websockets.addresses, is_encrypted);
  });
}

void add_queue_options(CLI::App& command, queue_options& options, const std::string& policy,
                       const std::string& capacity, const std::string& place) {
  std::vector<std::string> names;
  for (const auto x : all_overflow_policies)
    names.push_back(option_name(x));
  auto* const option = command.add_option_function<std::string>(
      policy, [&options](const std::string& name) { options.policy = policy_named(name); },
      "What happens when " + place + " is full");
  allow_only(option, names)->default_str("block");
  command.add_option(capacity, options.capacity_messages, "Messages in " + place + ", at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

std::string listen_address(const std::string& asked, std::uint16_t port) {
  if (asked.starts_with("unix://"))
    return asked;
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
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds{static_cast<long>(seconds * 1000)};
  };
  patience.timeout = milliseconds(options.connect_timeout_s);
  patience.retry = milliseconds(options.retry_s);
  patience.max_retry = milliseconds(options.max_retry_s);
  for (const auto& address : options.peers) {
    auto done =
        how == peering::wait ? ep.peer(address, patience) : ep.peer_async(address, patience);
    if (!done)
      return fail(done.error());
  }
  return exit_code::ok;
}

} // namespace pubsub::tool
