// Which messages of which client have got a version: each one gets one only. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pattern/versioned/versioned_messages.hpp"

namespace pubsub::pattern {

/// Follows the log of a replica: what is added there is added here, what is taken back there is
/// taken back here. Not thread-safe.
class client_numbers {
public:
  enum class verdict : std::uint8_t {
    next, ///< the next of its client
    here, ///< it has a version
    past, ///< it had one, or its client has given it up
    early ///< others must come before
  };
  struct answer {
    verdict is = verdict::early;
    std::optional<stamped_run> run; ///< where it is here
  };

  /// What to do with messages from `first` on; the client waits for none below `settled`.
  answer ask(const endpoint_id& client, std::uint64_t first, std::uint64_t settled) const;
  void add(const endpoint_id& client, const stamped_run& run);
  /// Takes back the last that was added of this client; no effect if it is another one.
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
