// From slices of runs to the bytes a peer understands: the same memory where possible.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <pubsub/endpoint_id.hpp>

#include "message/slab.hpp"
#include "queue/bounded_queue.hpp"
#include "transport/asio.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// Frames go out as they lie. Records go out as they lie behind a batch header in version 2; in
/// version 1 each is copied into a frame of its own. Thread-safety: the link's loop.
class frame_encoder {
public:
  /// Once the handshake has agreed on a version; `self` is the sender of version-1 frames, `via`
  /// names the link in the destinations_by_link of topics.
  void begin(std::uint8_t version, const endpoint_id& self, const void* via) {
    version_ = version;
    self_ = self;
    via_ = via;
  }
  /// Appends what makes up `slice` on the wire, and returns its size in bytes. The buffers point
  /// into the run and into memory kept until `forget`.
  std::size_t encode(const run_slice& slice, std::vector<asio::const_buffer>& out);
  /// Everything encoded so far has been written.
  void forget() noexcept { kept_.clear(); }

private:
  struct table_use {
    intrusive_ptr<const topic_table> table;
    std::size_t announced = 0; // topics the peer knows
    std::uint64_t last_use = 0;
  };

  std::size_t encode_batch(const run_slice& slice, std::vector<asio::const_buffer>& out);
  std::size_t encode_frames(const run_slice& slice, std::vector<asio::const_buffer>& out);
  std::uint16_t number_of(const topic_table* topics);
  std::uint16_t free_number();
  std::size_t tell_topics(table_use& use, std::uint16_t number,
                          std::vector<asio::const_buffer>& out);
  std::byte* reserve(std::size_t size);

  std::uint8_t version_ = 1;
  endpoint_id self_;
  const void* via_ = nullptr;
  std::vector<table_use> tables_; // by the number the peer knows them by
  std::unordered_map<const topic_table*, std::uint16_t> numbers_;
  std::uint64_t uses_ = 0;
  slab memory_;                                  // of headers and copies
  std::vector<intrusive_ptr<const chunk>> kept_; // its chunks in use
};

} // namespace pubsub
