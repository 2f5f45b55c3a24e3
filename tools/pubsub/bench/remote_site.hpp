// The processes of one network: a server, a link that is as long as asked for, and a client.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/child_process.hpp"
#include "bench/child_report.hpp"
#include "bench/remote_work.hpp"
#include "bench/scratch_folder.hpp"
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
  /// `network`: loopback, or a profile of the link emulator, which measures what it adds itself
  /// (seconds), or is told by `link_costs`: those of another site.
  remote_site(const std::string& network, std::size_t workers, const stop_signal& stop,
              std::string link_costs = {});

  /// Empty on loopback.
  const std::string& link_costs() const noexcept { return link_costs_; }

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
  std::string link_costs_;
  std::deque<child_process> processes_;
  child_process* link_ = nullptr;
  child_process* client_ = nullptr;
};

} // namespace pubsub::tool::bench
