// Options of a bridge to an engine, on the command line and in a node's configuration.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <CLI/App.hpp>

#include <pubsub/bridge/sink.hpp>
#include <pubsub/bridge/source.hpp>

#include "where_options.hpp"

namespace pubsub::tool {

/// The engines, by the name that each has as a command.
inline constexpr std::string_view engine_names[] = {"kafka", "jetstream", "redis"};

/// As they were given. Made for one engine; what belongs to others stays as it is.
struct bridge_options {
  std::string engine;
  bridge::kafka kafka;
  bridge::jetstream jetstream;
  bridge::redis redis;
  std::vector<std::string> settings; // of Kafka: NAME=VALUE
  std::string list;                  // of Redis: how it is written to; empty: a stream
  where_options where;
  std::vector<std::string> topics;
  std::string format; // empty: what is usual for the direction
  bool no_headers = false;
  std::string start; // empty: stored where there is a group, the beginning otherwise
  timespan commit_interval = std::chrono::seconds{1};
  bridge::sink_options sink;
  bridge::source_options source;
  std::string pipeline;
  std::string network = bridge::sink_options{}.network;
  std::string dead_letters;

  bool is_source() const { return !source.from.empty(); }
};

/// Adds what a bridge to `options.engine` can be told.
void add_bridge_options(CLI::App& command, bridge_options& options);

/// What is to be opened.
struct bridge_plan {
  bridge::engine engine;
  std::variant<bridge::sink_options, bridge::source_options> what;
};

/// Errors: invalid_argument and not_supported; the context is a sentence.
expected<bridge_plan> plan_of(const bridge_options& options);

} // namespace pubsub::tool
