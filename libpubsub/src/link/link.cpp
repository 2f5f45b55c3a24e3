// SPDX-License-Identifier: BSD-3-Clause
#include "link/link.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <utility>

#include "link/left_writing.hpp"
#include "link/tuning.hpp"
#include "message/frame.hpp"
#include "transport/tls/tls_socket.hpp"

namespace pubsub {

namespace {

using namespace link_tuning;

/// How a connection of Broker before 2.3 (Zeek 4 and older) begins: with the number of the first
/// message in CAF's protocol, three bytes of zero, and the length of what follows, which is below
/// 2^24. In Broker's protocol since then that would be a handshake frame of 16 MiB that begins with
/// a tag there is not.
constexpr std::array old_broker_begins{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0},
                                       std::byte{0}};

/// True as well for fewer bytes, as far as they go.
bool may_be_old_broker(std::span<const std::byte> first) noexcept {
  const auto n = std::min(first.size(), old_broker_begins.size());
  return std::ranges::equal(first.first(n), std::span{old_broker_begins}.first(n));
}

/// The links that a thread has written to at once, one after the other: of messages or news for one
/// each, the loops write the rest. (What goes to very many is link/written_together.hpp's.)
struct writes_in_a_row {
  peer_link::clock::time_point last;
  unsigned links = 0;

  bool may_write(peer_link::clock::time_point now) noexcept {
    if (now - std::exchange(last, now) >= idle_before_writing_at_once)
      links = 0;
    return links++ < most_links_written_at_once;
  }
};
thread_local writes_in_a_row writes_here;

/// A timer on a loop of Asio, which it keeps alive.
class asio_timer final : public loop_timer {
public:
  explicit asio_timer(std::shared_ptr<asio::io_context> loop)
      : loop_(std::move(loop)), timer_(*loop_) {}
  void start(std::chrono::nanoseconds delay, std::function<void()> on_expiry) override {
    timer_.expires_after(delay);
    timer_.async_wait([call = std::move(on_expiry)](error_code cancelled) {
      if (!cancelled)
        call();
    });
  }
  void stop() override { timer_.cancel(); }

private:
  const std::shared_ptr<asio::io_context> loop_; // outlives the timer
  asio::steady_timer timer_;
};

} // namespace

link::link(std::shared_ptr<connection> carrier, const queue_options& options,
           std::uint32_t max_frame_bytes)
    : peer_link(carrier->remote(), options, max_frame_bytes), connection_(std::move(carrier)) {}

std::unique_ptr<loop_timer> link::make_timer() {
  return std::make_unique<asio_timer>(connection_->loop());
}

void link::start(std::shared_ptr<link_handler> handler) {
  if (closed_) // before it began
    return handler->on_closed({errc::shutting_down, "the connection was closed"});
  handler_ = std::move(handler);
  read();
}

// -- reading -----------------------------------------------------------------------------------

void link::read() {
  if (reading_ || closed_ || paused())
    return;
  make_room(chunk_bytes_ / reads_per_chunk);
  reading_ = true;
  connection_->read_some({buffer_->data() + filled_, readable_bytes()},
                         [self = self()](error_code failure, std::size_t n) {
                           self->reading_ = false;
                           self->on_read(failure, n);
                         });
}

void link::on_read(error_code failure, std::size_t transferred) {
  if (closed_) {
    buffer_ = {}; // the link itself may live on for its counters
    return;
  }
  if (failure)
    return do_close(explain(failure));
  if (transferred == readable_bytes()) // there may be more
    chunk_bytes_ = std::min(chunk_growth * chunk_bytes_, read_chunk_bytes);
  filled_ += transferred;
  bytes_received_.fetch_add(transferred, std::memory_order_relaxed);
  go_on();
}

/// Hands on what has come, which may have waited since the link rests, and reads on.
void link::go_on() {
  if (reading_ || closed_ || paused() || !buffer_)
    return;
  try {
    if (deliver_frames()) {
      give_credit(false);
      read();
    }
  } catch (const std::exception& failed) { // out of memory: this link goes, the process stays
    do_close({errc::unspecified, failed.what()});
  }
}

/// Hands whole frames to the handler until it takes no more. Returns false if the link was closed
/// meanwhile.
bool link::deliver_frames() {
  const bool too_few = unread_is_all() && may_be_old_broker(unread()); // to know what it is
  if (too_few && unread().size() >= old_broker_begins.size()) {
    do_close({errc::peer_incompatible, "the peer is a Broker before 2.3 (Zeek 4 or older)"});
    return false;
  }
  auto* const bytes = buffer_->data();
  auto end = parsed_;
  while (filled_ - end >= frame_header_bytes) {
    const auto [size, allowed] = bounds_.length_at(bytes + end);
    if (!allowed) {
      if (end > parsed_ || too_few)
        break; // the frames before it may raise the limit: the last one of a handshake does
      do_close(too_long(size));
      return false;
    }
    if (filled_ - end - frame_header_bytes < size)
      break;
    end += frame_header_bytes + size;
  }
  if (end == parsed_)
    return true;
  const auto taken = handler_->on_frames(buffer_, {bytes + parsed_, end - parsed_});
  parsed_ += taken;
  return !closed_ && (resting() || deliver_frames());
}

/// Why a frame is refused. A peer that begins with TLS seems to announce one of 352 MiB or more.
error link::too_long(std::uint32_t size) const {
  if (unread_is_all() && looks_like_tls(unread()))
    return {errc::tls_failed, "the peer uses TLS, and this side does not"};
  return {errc::limit_exceeded, "the peer announced a frame of " + std::to_string(size) +
                                    " bytes; the limit is " + std::to_string(bounds_.max_bytes)};
}

/// Why the connection is gone. A peer that goes without a word may have waited for TLS: Broker does
/// that.
error link::explain(const error_code& failure) const {
  auto result = connection_->explain(failure);
  if (connection_->encrypted() || bytes_received_.load(std::memory_order_relaxed) > 0)
    return result;
  return {result.code(), result.context() + ", before it said anything; does it use TLS?"};
}

/// Makes sure that at least `wanted` bytes can be read, and a frame whose length is known can be
/// completed. Bytes in front of `parsed_` belong to messages and stay where they are; only the
/// beginning of an incomplete frame moves, and early, where the rest would not fit. A very long
/// frame gets its space as its bytes arrive, not when its length is announced.
void link::make_room(std::size_t wanted) {
  const auto pending = filled_ - parsed_;
  if (buffer_ && pending == 0 && buffer_->unique() && buffer_->capacity() >= chunk_bytes_) {
    parsed_ = filled_ = 0;
    return;
  }
  const auto frame = std::min(announced_bytes(), believed_bytes);
  if (frame > pending)
    wanted = std::max(wanted, frame - pending);
  if (buffer_ && buffer_->capacity() - filled_ >= wanted)
    return;
  auto fresh = chunk::make(std::max({chunk_bytes_, 2 * pending, pending + wanted}));
  if (pending > 0)
    std::memcpy(fresh->data(), buffer_->data() + parsed_, pending);
  buffer_ = std::move(fresh);
  parsed_ = 0;
  filled_ = pending;
}

/// Of the frame that is not complete, with its header; 0 where that is not complete either.
std::size_t link::announced_bytes() const noexcept {
  if (filled_ - parsed_ < frame_header_bytes)
    return 0;
  return frame_header_bytes + bounds_.length_at(buffer_->data() + parsed_).bytes;
}

/// Called by a queue's consumer, which holds the link.
void link::on_resume() {
  if (!closed_)
    asio::post(loop(), [self = self()] {
      self->note_room();
      self->go_on();
    });
}

// -- writing -----------------------------------------------------------------------------------

/// Under load the loop writes, which finds more to write the later it comes. Otherwise waking it
/// would take longer than writing.
void link::on_work() {
  if (written_together::is_on())
    return written_together::add(self());
  const bool on_loop = loop().get_executor().running_in_this_thread();
  if (on_loop || !write_at_once())
    asio::post(loop(), [self = self()] { self->write(); });
}

/// False if the loop is to go on.
bool link::write_at_once() {
  if (left_writing::is_on())
    return false;
  std::lock_guard lock{writer_mutex_};
  const auto now = clock::now();
  if (writing_ || closed_ || now - idle_since_ < idle_before_writing_at_once ||
      !writes_here.may_write(now))
    return false;
  const bool all = write_what_fits();
  writes_here.last = clock::now();
  return all;
}

void link::write_here() {
  if (loop().get_executor().running_in_this_thread())
    return write();
  {
    std::lock_guard lock{writer_mutex_};
    if (writing_ || closed_ || write_what_fits())
      return;
  }
  asio::post(loop(), [self = self()] { self->write(); });
}

/// False if the loop has something left to do.
bool link::write_what_fits() {
  gather();
  if (unwritten_) {
    advance(connection_->try_write(unwritten_->rest()));
    gather();
  }
  return !unwritten_ && !close_when_written_;
}

void link::write() {
  std::unique_lock lock{writer_mutex_};
  if (writing_ || closed_ || write_what_fits())
    return;
  if (!unwritten_) {
    lock.unlock();
    return do_close({});
  }
  writing_ = true;
  connection_->write_some(unwritten_->rest(), [self = self()](error_code failure, std::size_t n) {
    self->on_written(failure, n);
  });
}

/// What the outboxes hold, once what was taken before is written.
void link::gather() {
  if (unwritten_ && !unwritten_->empty())
    return;
  if (!unwritten_)
    unwritten_ = spare_write::take();
  protocol_->gather(*this, *unwritten_);
  if (!unwritten_->empty())
    return;
  idle_since_ = clock::now();
  spare_write::keep(std::move(unwritten_));
}

void link::on_written(error_code failure, std::size_t transferred) {
  {
    std::lock_guard lock{writer_mutex_};
    writing_ = false;
    if (closed_)
      return unwritten_.reset();
    if (!failure)
      advance(transferred);
  }
  if (failure)
    return do_close(explain(failure));
  write();
}

void link::advance(std::size_t written) {
  bytes_sent_.fetch_add(written, std::memory_order_relaxed);
  unwritten_->advance(written,
                      [this](std::size_t hops, run_position size) { out(hops).written(size); });
}

// -- closing -----------------------------------------------------------------------------------

void link::close(error reason) {
  asio::post(loop(), [self = self(), reason = std::move(reason)] { self->do_close(reason); });
}

void link::close_when_written() {
  asio::post(loop(), [self = self()] {
    {
      std::lock_guard lock{self->writer_mutex_};
      self->close_when_written_ = true;
    }
    self->write();
  });
}

void link::do_close(error reason) {
  if (closed_.exchange(true))
    return;
  if (reason == errc::tls_failed) { // by the first frame a peer that speaks TLS knows what this is
    std::lock_guard lock{writer_mutex_};
    if (!writing_ && !unwritten_) {
      gather();
      if (unwritten_)
        connection_->try_write(unwritten_->rest());
    }
  }
  close_all();
  {
    std::lock_guard lock{writer_mutex_}; // no other thread is writing
    connection_->close();
    if (!writing_)
      unwritten_.reset();
  }
  if (!reading_)
    buffer_ = {};
  auto handler = std::move(handler_);
  if (handler)
    handler->on_closed(reason);
}

} // namespace pubsub
