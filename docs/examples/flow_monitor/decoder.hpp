// A captured frame in, a transport packet out: link, IP, reassembly and transport in one call.
#pragma once

#include "packet.hpp"
#include "reassembly.hpp"

#include <array>
#include <cstdint>
#include <variant>

namespace flow_monitor {

/// A frame as libpcap hands it over.
struct captured_frame {
  pubsub::timestamp at{};
  byte_view bytes;              ///< what was captured
  std::uint32_t wire_bytes = 0; ///< what was on the wire; more than bytes.size() if cut short
};

/// A fragment that waits for the rest of its datagram.
struct held {};

using decode_outcome = std::variant<packet, held, skipped>;

class decoder {
public:
  explicit decoder(int link_type, reassembly_limits limits = {})
      : link_type_(link_type), fragments_(limits) {}

  /// The packet's payload views `frame.bytes` or memory of this object: valid until the next call.
  decode_outcome decode(const captured_frame& frame);

  /// Gives up incomplete datagrams; call at the end of input.
  void finish() { fragments_.clear(); }

  [[nodiscard]] std::uint64_t skipped_packets(skip_reason reason) const;
  [[nodiscard]] std::uint64_t held_packets() const { return fragments_.held_packets(); }

private:
  decode_outcome decode_one(const captured_frame& frame);

  int link_type_;
  reassembler fragments_;
  std::array<std::uint64_t, skip_reason_count> skipped_{};
};

} // namespace flow_monitor
