// What members and proxies of clusters need of libzmq beyond cppzmq.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>

#include <zmq.hpp>

namespace pubsub::cluster {

/// Why sockets could not be bound or connected to these addresses. address_in_use, cannot_listen,
/// or invalid_argument.
error error_of_address(const zmq::error_t& failed, const std::string& addresses);

/// Sends a message of these frames. False where there is no room: then nothing of it was sent.
bool send_frames(zmq::socket_t& to, std::span<const std::string_view> frames);

/// The frames of one message; their memory is used again.
class frames {
public:
  /// Takes a message that is there. False where there is none.
  bool receive(zmq::socket_t& from);
  std::span<const std::string_view> texts() const noexcept { return texts_; }

private:
  std::vector<zmq::message_t> parts_;
  std::vector<std::string_view> texts_;
};

/// What happens to a connection below a socket. `accepted` is of sockets that are bound;
/// `connected` has shaken hands.
enum class connection_state : std::uint8_t { accepted, connected, lost, refused };

struct socket_event {
  connection_state state = connection_state::lost;
  int fd = -1; ///< of `accepted` and `lost`
};

/// Tells of the events of one socket, which must outlive it.
class socket_monitor {
public:
  socket_monitor(zmq::context_t& context, zmq::socket_t& watched, const std::string& name);
  ~socket_monitor();
  socket_monitor(const socket_monitor&) = delete;
  socket_monitor& operator=(const socket_monitor&) = delete;

  zmq::socket_t& socket() noexcept { return events_; }
  std::optional<socket_event> next();

private:
  zmq::socket_t& watched_;
  zmq::socket_t events_;
  frames frames_;
};

} // namespace pubsub::cluster
