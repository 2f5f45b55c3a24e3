// SPDX-License-Identifier: BSD-3-Clause
#include "compare/compare_cases.hpp"

#include "kit/program_run.hpp"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

// A payload is what the user sends. A message of 100 bytes takes about 150 in Broker's framing.
constexpr std::size_t framing_bytes = 50;

// A peer, the program that measures it, and the usage it is told with --pattern.
struct peer_usage {
  const char* name;
  const char* program;
  const char* usage;
  const char* pattern;
};

constexpr peer_usage local_peers[] = {{"libzmq", "peer_zmq", "PUB/SUB", "pubsub"},
                                      {"libzmq", "peer_zmq", "PUSH/PULL", "pushpull"},
                                      {"nng", "peer_nng", "PUB/SUB", "pubsub"},
                                      {"nng", "peer_nng", "PUSH/PULL", "pushpull"},
                                      {"NATS", "peer_nats", "", ""},
                                      {"Broker", "peer_broker", "", ""}};

// What a thread of Aeron's does that finds nothing to do decides how fast it is, and what it costs.
constexpr peer_usage shared_memory_peers[] = {
    {"Aeron", "peer_aeron", "IPC, yielding", "yield"},
    {"Aeron", "peer_aeron", "IPC, backing off", "backoff"},
    {"Aeron", "peer_aeron", "IPC, spinning", "spin"}};

constexpr peer_usage chain_peers[] = {{"libzmq", "peer_zmq", "PUB/SUB", "pubsub"},
                                      {"nng", "peer_nng", "PUB/SUB", "pubsub"},
                                      {"nng", "peer_nng", "PUSH/PULL", "pushpull"},
                                      {"NATS", "peer_nats", "", ""},
                                      {"Broker", "peer_broker", "", ""}};

class case_maker {
public:
  explicit case_maker(const compare_settings& settings)
      : settings_(settings), folder_(find_peers(settings.peers_dir)) {}

  compare_case local(const char* messages) const {
    compare_case result{"local", messages, 0, {}};
    bool fresh = result.messages == "fresh";
    result.contestants = {
        limit("bare ring", fresh ? "of heap blocks" : "of one block", "bare_ring", result, 0),
        ours("", {"stream", "--mode", "both", "--messages", messages})};
    for (const auto& peer : local_peers)
      result.contestants.push_back(measured_by(peer, result));
    if (fresh)
      add_shared_memory_peers(result);
    return result;
  }

  /// From one process to another of the same host, without a relay.
  compare_case host() const {
    compare_case result{"chain", "fresh", 0, {}};
    auto over_unix = ours("over unix://", {"chain", "--transport", "unix", "--relays", "0"});
    over_unix.role = part::ours;
    result.contestants = {limit("bare TCP copy", "", "bare_chain", result, framing_bytes),
                          std::move(over_unix), ours("over TCP", {"chain", "--relays", "0"})};
    add_shared_memory_peers(result);
    result.setup = "host";
    return result;
  }

  compare_case chain(unsigned relays) const {
    compare_case result{"chain", "fresh", relays, {}};
    result.contestants = {
        limit("bare TCP copy", "", "bare_chain", result, framing_bytes),
        ours("", {"chain", "--relays", std::to_string(relays)}),
        ours("over unix://", {"chain", "--transport", "unix", "--relays", std::to_string(relays)}),
        ours("version 1", {"chain", "--wire-version", "1", "--relays", std::to_string(relays)})};
    if (!settings_.input.empty())
      result.contestants.push_back(
          ours("records of " + std::filesystem::path{settings_.input}.filename().string(),
               {"chain", "--input", settings_.input, "--relays", std::to_string(relays)}));
    for (const auto& peer : chain_peers)
      result.contestants.push_back(measured_by(peer, result));
    return result;
  }

  /// Messages published as values, each a new tree, and read as values: by those who have that.
  compare_case trees() const {
    compare_case result{"chain", "tree", 0, {}};
    result.contestants = {limit("bare TCP copy", "", "bare_chain", result, framing_bytes),
                          ours("", {"chain", "--messages", "tree", "--relays", "0"}),
                          measured_by({"Broker", "peer_broker", "", ""}, result)};
    return result;
  }

  /// From actor to actor, over a relay; the framework's own way has none.
  compare_case actors() const {
    compare_case result{"chain", "tree", 1, {}};
    auto direct = result;
    direct.relays = 0;
    const auto own = measured_by({"", "peer_actors", "", "pubsub"}, result);
    result.contestants = {
        {"libpubsub", "", part::ours, own.program, own.arguments},
        measured_by({"CAF", "peer_actors", "remote actors, no relay", "remote"}, direct),
        measured_by({"Broker", "peer_broker", "", ""}, result)};
    result.setup = "actors";
    return result;
  }
  bool has_actors() const { return std::filesystem::exists(program("peer_actors")); }

private:
  std::string program(const char* name) const { return (folder_ / name).string(); }

  std::vector<std::string> sized(std::vector<std::string> arguments, std::size_t extra) const {
    auto bytes = std::to_string(settings_.payload_bytes + extra);
    auto seconds = fmt::format("{}", settings_.duration_s);
    arguments.insert(arguments.end(), {"--payload", bytes, "--duration", seconds});
    return arguments;
  }

  std::vector<std::string> program_arguments(const compare_case& in, std::size_t extra) const {
    return sized(
        {"--setup", in.setup, "--messages", in.messages, "--relays", std::to_string(in.relays)},
        extra);
  }

  contestant limit(const char* name, const char* usage, const char* file, const compare_case& in,
                   std::size_t extra) const {
    return {name, usage, part::limit, program(file), program_arguments(in, extra)};
  }

  contestant ours(std::string usage, std::vector<std::string> arguments) const {
    const auto role = usage.empty() ? part::ours : part::variant;
    return {"libpubsub", std::move(usage), role, "", sized(std::move(arguments), 0)};
  }

  void add_shared_memory_peers(compare_case& to) const {
    for (const auto& peer : shared_memory_peers)
      to.contestants.push_back(measured_by(peer, to));
  }

  contestant measured_by(const peer_usage& peer, const compare_case& in) const {
    auto arguments = program_arguments(in, 0);
    if (*peer.pattern != '\0')
      arguments.insert(arguments.end(), {"--pattern", peer.pattern});
    return {peer.name, peer.usage, part::peer, program(peer.program), std::move(arguments)};
  }

  const compare_settings& settings_;
  std::filesystem::path folder_;
};

} // namespace

std::string compare_case::title() const {
  if (setup == "local")
    return fmt::format("local stream, {}",
                       messages == "fresh" ? "fresh messages" : "one message repeated");
  if (setup == "host")
    return "two processes of one host";
  if (setup == "actors")
    return "from actor to actor, 1 relay, values";
  return fmt::format("chain, {} relay{}{}", relays, relays == 1 ? "" : "s",
                     messages == "tree" ? ", values" : "");
}

std::vector<compare_case> make_cases(const compare_settings& settings) {
  case_maker make{settings};
  std::vector<compare_case> cases;
  if (settings.only.empty() || settings.only == "local")
    for (auto messages : {"fresh", "repeated"})
      cases.push_back(make.local(messages));
  if (settings.only.empty() || settings.only == "host")
    cases.push_back(make.host());
  if (settings.only.empty() || settings.only == "chain")
    for (auto relays : settings.relays)
      cases.push_back(make.chain(relays));
  if (settings.only.empty() || settings.only == "values")
    cases.push_back(make.trees());
  if (settings.only == "actors" || (settings.only.empty() && make.has_actors()))
    cases.push_back(make.actors());
  return cases;
}

} // namespace pubsub::tool::bench
