// A relay with its configuration, which can change while it runs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/endpoint.hpp>

#include "bridges/active_bridges.hpp"
#include "clusters.hpp"
#include "event_log.hpp"
#include "metrics_option.hpp"
#include "node_options.hpp"
#include "rules/active_rules.hpp"
#include "service_manager.hpp"
#include "stop_signal.hpp"
#include "websockets.hpp"

namespace pubsub::tool {

/// Used by one thread.
class running_node {
public:
  /// `arguments` are parsed again when the files are to be read again.
  running_node(std::vector<std::string> arguments, node_settings settings);
  ~running_node();

  /// Returns once it is told to end by a signal, or could not begin.
  exit_code run();

private:
  exit_code start();
  void watch();
  void obey(int signal);
  void reload();
  /// What is wrong with the new settings; none if all can be applied.
  error apply(const node_settings& fresh);
  void change_peers(const std::vector<std::string>& wanted);
  void show_rules();
  void show_bridges();
  error listen_at_more(const std::vector<std::string>& wanted);
  void say_what_needs_a_restart(const node_settings& fresh);
  void retire();
  void end();
  void show_events();
  void show_losses();
  void look(clock::time_point now);
  void warn_of_expiry();

  const std::vector<std::string> arguments_;
  node_settings settings_;
  event_log log_;
  stop_signal stop_;
  command_signal commands_;
  service_manager manager_;
  endpoint endpoint_;
  status_subscriber events_;
  gateway_log gateway_log_;
  active_rules rules_{endpoint_};
  active_bridges bridges_{endpoint_};
  websockets websockets_;
  std::optional<metrics_server> metrics_;
  clock::time_point look_again_;
  clock::time_point warn_again_;
  clock::time_point alive_again_;
  bool retired_ = false;
};

} // namespace pubsub::tool
