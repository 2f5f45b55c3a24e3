// All connections under way. Pure: packets in, finished records out, and the only clock is the
// packets' own time.
#pragma once

#include "flow.hpp"
#include "uid.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace flow_monitor {

/// How long a flow may be silent before it counts as ended, and how many are kept at once.
struct flow_limits {
  std::chrono::nanoseconds tcp_timeout = std::chrono::minutes{5};
  std::chrono::nanoseconds udp_timeout = std::chrono::minutes{1};     ///< ICMP too
  std::chrono::nanoseconds attempt_timeout = std::chrono::seconds{5}; ///< TCP without an answer
  std::chrono::nanoseconds close_linger = std::chrono::seconds{5};    ///< for late packets
  std::chrono::nanoseconds reset_linger = std::chrono::milliseconds{500};
  std::size_t max_flows = 100'000; ///< beyond it the flow silent for longest ends; at least 1
};

class flow_table {
public:
  flow_table(const flow_limits& limits, uid_source uids)
      : limits_(limits), uids_(uids), flows_(0, key_hash{uids.seed()}) {}

  /// Takes one packet. Records of flows that ended by then are appended to `finished`.
  void add(const packet& p, std::vector<conn_record>& finished);

  /// Lets time pass without a packet. A time before the last one ends nothing.
  void advance(pubsub::timestamp now, std::vector<conn_record>& finished);

  /// Ends every flow, in the order they began: the end of input.
  void finish_all(std::vector<conn_record>& finished);

  [[nodiscard]] std::size_t size() const { return flows_.size(); }
  /// How many flows ended early because the table was full.
  [[nodiscard]] std::uint64_t evicted_flows() const { return evicted_flows_; }

private:
  // Both directions of a connection have the same key: the lesser end comes first.
  struct key {
    pubsub::address low, high;
    std::uint16_t low_port = 0, high_port = 0;
    transport protocol = transport::tcp;
    bool is_one_way = false;
    bool operator==(const key&) const = default;
  };
  struct key_hash {
    std::uint64_t seed; ///< keeps a sender from choosing ports that all collide
    std::size_t operator()(const key& k) const noexcept;
  };
  struct entry {
    key id;
    flow state;
    bool is_low_orig; ///< the key's lesser end is the originator
  };
  using entries = std::list<entry>;

  static key key_of(const packet& p, bool& is_from_low);
  entries::iterator open(const packet& p, const key& id, bool is_from_low);
  void end(entries::iterator which, std::vector<conn_record>& finished);
  void end_longest_silent(std::vector<conn_record>& finished);
  entries& in_phase(flow_phase phase) { return phases_[static_cast<std::size_t>(phase)]; }
  [[nodiscard]] std::chrono::nanoseconds patience(flow_phase phase) const;

  flow_limits limits_;
  uid_source uids_;
  std::unordered_map<key, entries::iterator, key_hash> flows_;
  std::array<entries, flow_phase_count> phases_; ///< each ordered by last packet, oldest first
  std::uint64_t evicted_flows_ = 0;
};

} // namespace flow_monitor
