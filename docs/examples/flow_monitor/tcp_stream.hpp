// One direction of a TCP connection, reduced to sequence numbers: how many bytes were sent, which
// of them were never seen, which were sent again. Keeps no payload.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace flow_monitor {

enum class segment_kind : std::uint8_t {
  fresh,      ///< bytes not seen before, in order or not
  repeated,   ///< some of the bytes were seen before
  impossible, ///< further from the rest than any window allows; ignored
};

struct segment {
  segment_kind kind = segment_kind::fresh;
  std::int64_t offset_bytes = 0; ///< from the stream's first byte; negative if before it
};

class tcp_stream {
public:
  /// The first byte of data has sequence number `first`. The first call counts; later ones are
  /// ignored once the stream has begun to move.
  void start(std::uint32_t first);

  /// `length_bytes` (at least 1) of payload beginning at `seq`.
  segment add_data(std::uint32_t seq, std::uint32_t length_bytes);

  /// The sender's FIN, at the sequence number after its last byte.
  void add_fin(std::uint32_t seq);

  /// The other side acknowledged everything before `ack`. Returns how many bytes it thereby says it
  /// received that never passed here.
  std::uint64_t add_ack(std::uint32_t ack);

  [[nodiscard]] bool is_started() const { return is_started_; }
  [[nodiscard]] bool is_fin_acked() const { return is_fin_acked_; }
  /// Payload bytes by sequence numbers, seen or acknowledged.
  [[nodiscard]] std::uint64_t size_bytes() const;
  /// Bytes at the stream's start that arrived before anything was missing.
  [[nodiscard]] std::uint64_t contiguous_bytes() const { return contiguous_; }

private:
  using range = std::pair<std::uint64_t, std::uint64_t>; // [first, last)

  /// The offset `seq` stands for: of the many, the one nearest the highest byte so far.
  [[nodiscard]] std::int64_t offset_of(std::uint32_t seq) const;
  bool insert(range piece);

  bool is_started_ = false;
  bool is_fin_acked_ = false;
  std::uint32_t base_ = 0;       ///< sequence number of offset zero
  std::uint64_t contiguous_ = 0; ///< everything below was seen, or was acknowledged unseen
  std::uint64_t highest_ = 0;    ///< the end of the furthest byte seen or acknowledged
  std::vector<range> ahead_;     ///< seen beyond contiguous_; sorted, disjoint, bounded
  std::optional<std::uint64_t> fin_offset_;
};

} // namespace flow_monitor
