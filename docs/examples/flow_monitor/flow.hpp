// One connection while it lasts: what each side sent, and what that makes of it in the end.
#pragma once

#include "conn_state.hpp"
#include "history.hpp"
#include "packet.hpp"
#include "record.hpp"
#include "service.hpp"
#include "tcp_stream.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace flow_monitor {

/// What a flow is waiting for, which decides how long silence is allowed to last.
enum class flow_phase : std::uint8_t {
  attempt,   ///< TCP, nobody has answered
  connected, ///< TCP under way
  datagrams, ///< UDP and ICMP, which never say that they are done
  closed,    ///< TCP, both sides sent FIN
  reset,     ///< TCP, one side sent RST
};
inline constexpr std::size_t flow_phase_count = 5;

/// True if `p`, the first packet of its flow, was sent by the responder: an answer to a SYN that
/// passed unseen, or a packet from a well-known server port to one that is not.
[[nodiscard]] bool comes_from_responder(const packet& p);

class flow {
public:
  /// `first` gives addresses and ports; it must still be passed to add().
  flow(const packet& first, bool is_flipped, std::string uid);

  void add(const packet& p, side from);

  [[nodiscard]] flow_phase phase() const;
  [[nodiscard]] pubsub::timestamp last_seen() const { return last_seen_; }
  [[nodiscard]] pubsub::timestamp first_seen() const { return first_seen_; }
  /// True if `p` can only begin another connection between the same ports.
  [[nodiscard]] bool is_succeeded_by(const packet& p) const;
  [[nodiscard]] conn_record to_record() const;

private:
  struct end_point {
    pubsub::address address;
    std::uint16_t port = 0;
    std::optional<mac_address> l2;
    std::uint64_t packets = 0;
    std::uint64_t ip_bytes = 0;
    std::uint64_t payload_bytes = 0; ///< UDP and ICMP; TCP counts by sequence numbers
    tcp_events events;
    tcp_stream stream;
    first_bytes head;
    std::optional<std::uint32_t> last_syn, last_fin, last_rst; ///< their sequence numbers
  };

  end_point& at(side which) { return ends_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const end_point& at(side which) const {
    return ends_[static_cast<std::size_t>(which)];
  }
  void add_tcp(const packet& p, side from);
  void add_flags(const packet& p, side from);
  void add_payload(const packet& p, side from);
  void add_ack(const packet& p, side from);
  void note_sequence(std::optional<std::uint32_t>& last, std::uint32_t seq, char letter, side from);
  void look_for_service();

  transport protocol_;
  std::string uid_;
  std::array<end_point, 2> ends_;
  history history_;
  std::optional<side> reset_by_;
  std::string_view service_;
  std::uint64_t missed_bytes_ = 0;
  pubsub::timestamp first_seen_;
  pubsub::timestamp last_seen_;
};

} // namespace flow_monitor
