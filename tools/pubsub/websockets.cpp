// SPDX-License-Identifier: BSD-3-Clause
#include "websockets.hpp"

#include <utility>

#include <sys/resource.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "tls_arguments.hpp"

#ifdef PUBSUB_HAS_CLUSTER
#include <pubsub/cluster/websocket_server.hpp>
#endif

namespace pubsub::tool {

void add_websocket_options(CLI::App& command, websocket_settings& to) {
  command
      .add_option("--websocket", to.addresses,
                  "Serve Zeek's WebSocket API (JSON) at ws://HOST:PORT, encrypted at "
                  "wss://HOST:PORT; the access rules hold there, too, by tokens and certificates "
                  "(repeatable)")
      ->type_name("ADDRESS");
  command
      .add_option("--websocket-origin", to.origins,
                  "Web pages of this origin may connect, too, such as https://desk.example.org; "
                  "* is any (repeatable)")
      ->type_name("ORIGIN");
}

websockets::websockets() = default;
websockets::~websockets() = default;

void websockets::stop() {
  all_.clear();
}

#ifdef PUBSUB_HAS_CLUSTER

struct websockets::running {
  cluster::websocket_server server;
  bool encrypted = false;
  cluster::websocket_server_counters before{};
};

namespace {

struct loss {
  const char* reason;
  std::uint64_t cluster::websocket_server_counters::*counter;
};

constexpr loss losses_of_server[] = {
    {"connections refused", &cluster::websocket_server_counters::refused},
    {"connections without a handshake", &cluster::websocket_server_counters::failed},
    {"clients that answered no ping", &cluster::websocket_server_counters::timed_out},
    {"clients with bad frames", &cluster::websocket_server_counters::bad_frames},
    {"messages of clients malformed", &cluster::websocket_server_counters::malformed},
    {"messages of clients refused", &cluster::websocket_server_counters::refused_events},
    {"messages for clients dropped, queue full", &cluster::websocket_server_counters::dropped},
    {"messages for clients that were gone", &cluster::websocket_server_counters::unsent},
    {"messages for clients that are no events", &cluster::websocket_server_counters::not_events},
};

cluster::websocket_server_options options_for(const std::string& address,
                                              const websocket_settings& settings,
                                              const websocket_rights& rights) {
  cluster::websocket_server_options result;
  result.address = address;
  result.access = rights.access;
  if (is_encrypted(address))
    result.tls = rights.tls;
  result.allowed_origins = settings.origins;
  result.queue = rights.queue;
  if (result.queue.policy == overflow_policy::block) // clients must not hold up the network
    result.queue.policy = cluster::websocket_server_options{}.queue.policy;
  return result;
}

/// A client takes several descriptors, of which a shell grants a process too few.
void take_all_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

expected<void> check(const websocket_settings& settings, const websocket_rights& rights) {
  for (const auto& each : settings.addresses)
    if (auto ok = check(options_for(each, settings, rights)); !ok)
      return ok;
  return {};
}

expected<std::vector<std::string>> websockets::start(const endpoint& ep,
                                                     const websocket_settings& settings,
                                                     const websocket_rights& rights) {
  if (!settings.addresses.empty())
    take_all_descriptors();
  std::vector<std::string> result;
  for (const auto& each : settings.addresses) {
    auto server = cluster::websocket_server::start(ep, options_for(each, settings, rights));
    if (!server)
      return server.error();
    result.push_back(server->uri());
    all_.push_back(std::make_unique<running>(running{std::move(*server), is_encrypted(each)}));
  }
  return result;
}

expected<void> websockets::change(const websocket_rights& rights) {
  for (const auto& each : all_) {
    if (each->encrypted)
      if (auto set = each->server.set_tls(rights.tls); !set)
        return set;
    if (auto set = each->server.set_access(rights.access); !set)
      return set;
  }
  return {};
}

std::vector<std::string> websockets::losses() {
  std::vector<std::string> result;
  for (auto& each : all_) {
    const auto now = each->server.counters();
    std::string text;
    for (const auto& [reason, counter] : losses_of_server)
      if (const auto n = now.*counter - each->before.*counter; n > 0)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", n, reason);
    each->before = now;
    if (!text.empty())
      result.push_back(each->server.uri() + ": " + text);
  }
  return result;
}

std::vector<std::string> websockets::totals() const {
  std::vector<std::string> result;
  for (const auto& each : all_) {
    const auto all = each->server.counters();
    result.push_back(fmt::format(
        "{}: accepted {} clients, received {} events and {} unwanted, sent "
        "{} events",
        each->server.uri(), all.accepted, all.events_received, all.unwanted, all.events_sent));
  }
  return result;
}

#else

struct websockets::running {};

namespace {

error no_websockets() {
  return {errc::not_supported, "--websocket needs a pubsub that was built with the component "
                               "cluster (Debian: libsimdjson-dev libzmq3-dev cppzmq-dev)"};
}

} // namespace

expected<void> check(const websocket_settings& settings, const websocket_rights&) {
  return settings.addresses.empty() ? expected<void>{} : no_websockets();
}

expected<std::vector<std::string>>
websockets::start(const endpoint&, const websocket_settings& settings, const websocket_rights&) {
  if (!settings.addresses.empty())
    return no_websockets();
  return std::vector<std::string>{};
}

expected<void> websockets::change(const websocket_rights&) {
  return {};
}

std::vector<std::string> websockets::losses() {
  return {};
}

std::vector<std::string> websockets::totals() const {
  return {};
}

#endif

} // namespace pubsub::tool
