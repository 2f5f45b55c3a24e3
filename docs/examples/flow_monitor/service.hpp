// Which application protocol a flow speaks, by what it says first and not by its port.
#pragma once

#include "packet.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace flow_monitor {

/// The first bytes one side of a flow sent, in order.
class first_bytes {
public:
  static constexpr std::size_t capacity = 48;

  /// Keeps what still fits; `offset` is where in the stream `bytes` begin. Bytes that do not follow
  /// on from those held are left out.
  void add(std::uint64_t offset, byte_view bytes);
  [[nodiscard]] byte_view view() const { return {bytes_.data(), size_}; }

private:
  std::array<std::uint8_t, capacity> bytes_{};
  std::uint8_t size_ = 0;
};

/// The service of a TCP connection as Zeek names it, or empty while it is not known.
[[nodiscard]] std::string_view tcp_service(byte_view from_orig, byte_view from_resp);

/// The service of one UDP payload, or empty. `payload` may be cut off by the capture.
[[nodiscard]] std::string_view udp_service(byte_view payload);

} // namespace flow_monitor
