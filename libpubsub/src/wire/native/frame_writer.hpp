// Builds the frames of version 2 (docs/wire-format.md). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_writer.hpp"
#include "message/frame.hpp"
#include "wire/native/frame_kind.hpp"

namespace pubsub::wire {

/// A whole frame, length included. `Kind` is `frame_kind` or `status_kind`.
class frame_writer : public byte_writer {
public:
  template <class Kind>
  explicit frame_writer(Kind kind) : byte_writer(frame_header_bytes) {
    add(static_cast<std::uint8_t>(kind));
  }

  std::vector<std::byte> finish() {
    auto frame = take();
    const auto size = static_cast<std::uint32_t>(frame.size() - frame_header_bytes);
    store_be(frame.data(), batch_flag | size);
    return frame;
  }
};

} // namespace pubsub::wire
