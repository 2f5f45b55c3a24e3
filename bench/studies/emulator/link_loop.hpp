// The loop of the thread that carries a link's bytes: sockets, schedules, the clock.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "studies/emulator/link_emulator.hpp"
#include "studies/emulator/link_schedule.hpp"
#include "studies/emulator/tunnel.hpp"

#include <sys/epoll.h>

namespace emulator {

/// What link_emulator promises; how each byte fares says link_schedule. One thread runs it, which
/// owns all of it but what is marked.
class link_loop {
public:
  /// Throws std::system_error.
  link_loop(socket listener, const socket_address& to, const link_settings& settings,
            const own_costs& costs);
  ~link_loop();

  /// Until `stop`; connections that are left get a reset.
  void run();

  // From any thread:
  void stop();
  void change(const link_settings& settings);
  link_counters counters() const;

private:
  using clock = std::chrono::steady_clock;
  using time_point = clock::time_point;
  using part = link_schedule::part;

  struct direction {
    explicit direction(flow tunnel::*which) : side(which) {}

    flow tunnel::*const side;
    link_schedule schedule{0, {}, 1};
    std::size_t room_bytes = 0;
    std::vector<std::uint64_t> held_back; // connections that wait for room
    std::vector<std::uint64_t> to_write;  // connections that bytes are through for
    std::atomic<std::uint64_t> read{0};
    std::atomic<std::uint64_t> delivered{0};
    std::atomic<std::uint64_t> lost{0};
  };

  void apply_change();
  void apply(const link_settings& settings);
  void wait();
  void dispatch(const epoll_event& event);
  void accept_all();
  void finish_connecting(tunnel& x);

  void read(tunnel& x, direction& d);
  void hold_back(tunnel& x, direction& d);
  void let_go_on(direction& d);
  void pass_on(direction& d);
  void arrive(tunnel& x, direction& d, const link_schedule::passed& what);
  void write(tunnel& x, direction& d);
  void fail(tunnel& x, direction& from);
  void cut_those_due();
  void watch(tunnel& x);
  void watch(int fd, std::uint64_t key, std::uint32_t wanted, std::uint32_t& watched);
  void watch_listener();
  tunnel* find(std::uint64_t id);
  void bury();
  direction& opposite(const direction& d) { return &d == &up_ ? down_ : up_; }

  socket listener_;
  const socket_address to_;
  const own_costs costs_;
  socket epoll_;
  socket wake_; // readable when there is a change, or a stop
  std::uint32_t watched_listener_ = 0;
  bool full_ = false; // no descriptor is left: nothing is accepted until a connection ends

  block_pool pool_;
  direction up_{&tunnel::up};
  direction down_{&tunnel::down};
  std::unordered_map<std::uint64_t, tunnel> tunnels_;
  std::uint64_t last_id_ = 0;
  std::vector<std::uint64_t> dead_;
  std::vector<std::uint64_t> cut_;
  time_point now_;
  time_point active_;                  // when bytes last came or went
  std::chrono::nanoseconds spin_{0};   // waits without sleeping for so long before bytes are due
  std::chrono::nanoseconds linger_{0}; // and for so long after they passed

  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> open_{0};
  std::mutex mutex_; // guards next_settings_
  std::optional<link_settings> next_settings_;
};

} // namespace emulator
