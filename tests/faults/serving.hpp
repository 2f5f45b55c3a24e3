// An instance of a service that writes down what it has done.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>

#include <pubsub/pattern/remote.hpp>

#include "command.hpp"
#include "planted.hpp"

namespace faults {

/// Its operations: `echo` and `sum` can be repeated; `note` cannot, and writes `client number` of
/// its argument into a file before it returns. Each keeps its worker busy for a while.
class serving {
public:
  serving(pubsub::endpoint& node, const std::string& service,
          const pubsub::service_options& options, const std::string& name, const std::string& file,
          std::chrono::microseconds work, planted fault);
  json_object report() const;

private:
  pubsub::data note(pubsub::data argument);

  const std::string name_;
  const planted fault_;
  std::mutex mutex_; // guards out_ and noted_
  std::ofstream out_;
  std::uint64_t noted_ = 0;
  pubsub::service it_;
};

} // namespace faults
