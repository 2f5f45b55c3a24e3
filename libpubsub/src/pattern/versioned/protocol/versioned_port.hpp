// How a replica or client of a group sends, whatever carries the messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pattern/versioned/protocol/versioned_messages.hpp"

namespace pubsub::pattern {

enum class versioned_target : std::uint8_t { all_replicas, replica, client, everyone };

/// No call blocks. False: the message was not taken, or it has no receiver. Not thread-safe.
class versioned_port {
public:
  bool to_replicas(const group_message& x) {
    return send(versioned_target::all_replicas, {}, encoded(x));
  }
  bool to_replica(const endpoint_id& id, const group_message& x) {
    return send(versioned_target::replica, id, encoded(x));
  }
  bool to_client(const endpoint_id& id, const group_message& x) {
    return send(versioned_target::client, id, encoded(x));
  }
  bool to_everyone(const group_message& x) {
    return send(versioned_target::everyone, {}, encoded(x));
  }

  /// For a message that several receive; valid until the next call.
  std::span<const std::byte> encoded(const group_message& x) {
    scratch_.clear();
    write_message(scratch_, x);
    return scratch_.bytes();
  }
  /// `id` is that of the replica or client; else it is not used.
  virtual bool send(versioned_target to, const endpoint_id& id,
                    std::span<const std::byte> message) = 0;

protected:
  ~versioned_port() = default;

private:
  data_writer scratch_;
};

} // namespace pubsub::pattern
