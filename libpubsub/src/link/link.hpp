// One connection to one peer: carries frames over a connection, in both directions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "link/peer_link.hpp"
#include "link/written_together.hpp"
#include "transport/connection.hpp"

namespace pubsub {

/// Reads big, splits frames without copying, writes runs of frames with one gathered write: from
/// the loop under load, at once on the publisher's thread if the link has been idle for a moment,
/// and together with others where a message goes over very many.
class link final : public peer_link, public written_together::target {
public:
  link(std::shared_ptr<connection> carrier, const queue_options& options,
       std::uint32_t max_frame_bytes);

  void start(std::shared_ptr<link_handler> handler) override;
  void post(std::function<void()> job) override { asio::post(loop(), std::move(job)); }
  std::unique_ptr<loop_timer> make_timer() override;
  clock::time_point now() const override { return clock::now(); }
  void close(error reason = {}) override;
  void close_when_written() override;
  peer_identity identity() const override { return connection_->identity(); }
  std::optional<std::chrono::microseconds> round_trip() const override {
    return connection_->round_trip();
  }
  std::size_t shared_bytes() const noexcept override { return connection_->shared_bytes(); }
  bool has_spoken() const noexcept override {
    return peer_link::has_spoken() || connection_->has_spoken();
  }

  void write_here() override;
  asio::io_context& loop() const noexcept override { return *connection_->loop(); }

private:
  std::shared_ptr<link> self() { return std::static_pointer_cast<link>(shared_from_this()); }
  void on_resume() override;
  void read();
  std::span<const std::byte> unread() const noexcept {
    return {buffer_->data() + parsed_, filled_ - parsed_};
  }
  /// At once: of a peer that is not known not very many.
  std::size_t readable_bytes() const noexcept {
    const auto room = buffer_->capacity() - filled_;
    return is_known() ? room : std::min(room, link_tuning::first_read_bytes);
  }
  /// Whether no frame has come yet.
  bool unread_is_all() const noexcept {
    return bytes_received_.load(std::memory_order_relaxed) == filled_ - parsed_;
  }
  void on_read(error_code failure, std::size_t transferred);
  void go_on();
  bool deliver_frames();
  error too_long(std::uint32_t size) const;
  error explain(const error_code& failure) const;
  void make_room(std::size_t wanted);
  std::size_t announced_bytes() const noexcept;
  void on_work() override;
  bool write_at_once();
  bool write_what_fits();
  void write();
  void gather();
  void advance(std::size_t written);
  void on_written(error_code failure, std::size_t transferred);
  void do_close(error reason);

  std::shared_ptr<connection> connection_;
  std::shared_ptr<link_handler> handler_;

  // Reading: bytes [parsed_, filled_) of the buffer are the beginning of a frame, or frames that
  // have not been taken.
  intrusive_ptr<chunk> buffer_;
  std::size_t chunk_bytes_ = link_tuning::first_chunk_bytes; // of the next buffer
  std::size_t parsed_ = 0;
  std::size_t filled_ = 0;
  bool reading_ = false;

  // Writing: the loop does, or a publisher that finds the link idle. Guarded by the writer mutex,
  // as is the connection's end.
  std::unique_ptr<gathered_write> unwritten_; // null if all is written that was taken
  bool writing_ = false;
  clock::time_point idle_since_;
  bool close_when_written_ = false;
};

} // namespace pubsub
