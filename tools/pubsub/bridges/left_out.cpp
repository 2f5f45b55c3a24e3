// What is there in place of bridges to engines where they cannot be built.
// SPDX-License-Identifier: BSD-3-Clause
#include "bridges/active_bridges.hpp"
#include "commands.hpp"
#include "config_file.hpp"
#include "terminal.hpp"

namespace pubsub::tool {

namespace {

constexpr const char* missing =
    "bridges need librdkafka, cnats and hiredis, which were not there when this was built (Debian: "
    "librdkafka-dev libnats-dev libhiredis-dev)";

} // namespace

void add_bridge(CLI::App& app, exit_code& outcome) {
  auto* const command = app.add_subcommand("bridge");
  command->group("")->allow_extras();
  command->callback([&outcome] {
    complain(missing);
    outcome = exit_code::usage;
  });
}

expected<std::vector<bridge_text>> read_bridges(const std::string& path) {
  const auto tables = read_config_tables(path, bridges_key, "engine", [](const std::string&) {
    return std::function<void(CLI::App&)>{};
  });
  if (!tables)
    return error{errc::not_supported, missing};
  return std::vector<bridge_text>{};
}

class running_bridge {};

active_bridges::active_bridges(endpoint& ep) : ep_(ep) {}
active_bridges::~active_bridges() = default;
error active_bridges::change(const std::vector<bridge_text>&) {
  return {};
}
void active_bridges::stop() {}
std::string active_bridges::metrics() const {
  static_cast<void>(ep_);
  return {};
}
std::vector<std::string> active_bridges::totals() const {
  return {};
}
std::vector<std::string> active_bridges::problems() {
  return {};
}

} // namespace pubsub::tool
