// The processes of one network: a server, a link that is as long as asked for, and a client.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "kit/child_process.hpp"
#include "kit/child_report.hpp"
#include "kit/scratch_folder.hpp"
#include "remote/remote_work.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool::bench {

/// Why there is no figure.
struct remote_failure : std::runtime_error {
  enum class kind : unsigned char {
    refused,     ///< an operation failed; the next ones may do
    failed,      ///< a process is not there, or does not answer
    interrupted, ///< a stop was asked for
  };
  remote_failure(kind how, const std::string& why) : std::runtime_error(why), what_kind(how) {}
  kind what_kind;
};

/// Everything runs as long as it lives. Throws remote_failure.
class remote_site {
public:
  /// `network`: loopback, or where studies are built a profile of the link emulator, which first
  /// measures for some seconds what it adds itself.
  remote_site(const std::string& network, std::size_t workers, const stop_signal& stop);

  /// Has the client do it, however long it takes at most.
  remote_sample run(const remote_order& order, double limit_s);
  /// Begins it, and does not wait; `finish` does.
  void begin(const remote_order& order);
  remote_sample finish(double limit_s);
  /// The link becomes another one; not on loopback.
  void change_network(const std::string& network);

private:
  child_process& start(const std::string& name, std::vector<std::string> arguments);
  child_report wait_for(child_process& child, std::string_view word, double seconds);

  const stop_signal& stop_;
  scratch_folder folder_;
  std::deque<child_process> processes_;
  child_process* link_ = nullptr;
  child_process* client_ = nullptr;
};

} // namespace pubsub::tool::bench
