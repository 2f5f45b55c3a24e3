// Which messages of which client have got a version, so that none gets two. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pattern/versioned/protocol/versioned_messages.hpp"

namespace pubsub::pattern {

/// Follows the log of a replica: what is added there is added here, what is taken back there is
/// taken back here. Not thread-safe.
class client_numbers {
public:
  enum class verdict : std::uint8_t {
    next, ///< the next message of its client
    here, ///< the message has a version
    past, ///< it had a version, or its client has given it up
    early ///< other messages must come before
  };
  struct answer {
    verdict is = verdict::early;
    std::optional<stamped_run> run; ///< with verdict `here`
  };

  /// What to do with messages from `first` on; the client awaits none below `settled`.
  answer ask(const endpoint_id& client, std::uint64_t first, std::uint64_t settled) const;
  void add(const endpoint_id& client, const stamped_run& run);
  /// Takes back the last run that was added of this client; no effect if it was another run.
  void take_back(const endpoint_id& client, const stamped_run& run);

  std::vector<client_progress> all() const;
  void assign(const std::vector<client_progress>& all);
  std::size_t size() const noexcept { return clients_.size(); }

private:
  struct progress {
    std::uint64_t next = 1;
    std::deque<stamped_run> recent; // by number
  };

  void forget_some();

  std::unordered_map<endpoint_id, progress> clients_;
};

} // namespace pubsub::pattern
