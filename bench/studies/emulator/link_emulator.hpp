// A TCP proxy that behaves as a link: its round-trip time, and its rate in each direction.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "studies/emulator/link_settings.hpp"
#include "studies/emulator/own_costs.hpp"

namespace emulator {

/// Counts since the start.
struct link_counters {
  std::uint64_t connections = 0;     ///< accepted
  std::uint64_t open = 0;            ///< of them, now
  std::uint64_t up_bytes = 0;        ///< delivered to where the link leads
  std::uint64_t down_bytes = 0;      ///< delivered to who has connected
  std::uint64_t up_held_bytes = 0;   ///< under way now, or not taken by who does not read
  std::uint64_t down_held_bytes = 0; ///< as above
};

/// Listens, and passes each connection on to one other address. All connections share the link, as
/// one behind the other through a router: bytes come out in order, no faster than the rate, and
/// half a round trip later. A connection is there after a round trip, its ends and resets travel as
/// its bytes do. What the link holds is bounded (link_room_bytes for a direction, and once more for
/// each connection whose reader does not read): then it reads no more, and TCP holds the sender
/// back. One thread, which on short links (own_costs::longest_awake) takes a processor while bytes
/// pass, and is urgent where the system allows it: a link does not slow down when programs compute.
/// All functions may be called from any thread.
class link_emulator {
public:
  /// `listen` and `to` are HOST:PORT; port 0 picks a free one. Throws std::runtime_error (also
  /// std::system_error) if it cannot listen, or an address cannot be understood.
  link_emulator(const std::string& listen, const std::string& to, const link_settings& settings,
                const own_costs& costs = measure_own_costs());
  link_emulator(const link_emulator&) = delete;
  link_emulator& operator=(const link_emulator&) = delete;
  /// Connections that are still open get a reset.
  ~link_emulator();

  /// `HOST:PORT` where it listens.
  const std::string& address() const noexcept;
  std::uint16_t port() const noexcept;

  /// From now on. What waits for its turn passes at the new rate; what travels arrives as it would
  /// have, and nothing overtakes it. Returns at once.
  void change(const link_settings& settings);

  link_counters counters() const;

private:
  class link_thread;
  std::unique_ptr<link_thread> thread_;
};

} // namespace emulator
