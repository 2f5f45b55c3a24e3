// The bridges of a running node.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>

namespace pubsub::tool {

class running_bridge;

/// A bridge as the configuration file has it: what says all of it, and where that stands.
struct bridge_text {
  std::string name;
  std::string engine;
  std::vector<std::string> arguments;
  std::string place;
  friend bool operator==(const bridge_text& x, const bridge_text& y) {
    return x.name == y.name && x.engine == y.engine && x.arguments == y.arguments;
  }
};

/// The tables [[bridge]] of the file, checked as far as that can be without the engines. Errors: as
/// `read_config`; not_supported, this build has no bridges.
expected<std::vector<bridge_text>> read_bridges(const std::string& path);

/// Thread-safe.
class active_bridges {
public:
  explicit active_bridges(endpoint& ep);
  ~active_bridges();

  /// From now on these run. Those that stay as they are go on; others end once the engine has what
  /// they have taken, for a few seconds at most. Errors: those of `sink::open` and `source::open`.
  error change(const std::vector<bridge_text>& wanted);
  /// Ends all of them in the same way.
  void stop();

  /// In the text format of Prometheus. Empty if there are none.
  std::string metrics() const;
  /// A sentence for each bridge: its name, and what it has counted.
  std::vector<std::string> totals() const;
  /// Sentences on what has gone wrong since the call before.
  std::vector<std::string> problems();

private:
  struct one {
    bridge_text text;
    std::unique_ptr<running_bridge> bridge;
    std::string problem; // that was told
  };

  void end(one& x);

  endpoint& ep_;
  mutable std::mutex mutex_; // guards the following
  std::vector<one> all_;
};

} // namespace pubsub::tool
