// A link whose other end, loop and clock are the test: no socket, no thread.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "link/peer_link.hpp"
#include "support/hex.hpp"

namespace pubsub::test {

/// Runs what was posted when the test says so, and expires timers when the test lets time pass.
class fake_loop : public std::enable_shared_from_this<fake_loop> {
public:
  using time_point = peer_link::clock::time_point;

  time_point now() const { return now_; }
  void post(std::function<void()> job) { jobs_.push_back(std::move(job)); }
  /// Runs `job` when so much time has passed.
  void post_after(std::chrono::nanoseconds delay, std::function<void()> job) {
    timers_.emplace(now_ + delay, std::move(job));
  }
  /// Runs all jobs, and those that they post.
  void run() {
    while (!jobs_.empty()) {
      auto jobs = std::exchange(jobs_, {});
      for (const auto& each : jobs)
        each();
    }
  }
  /// Lets time pass; each timer expires at its time.
  void advance(std::chrono::nanoseconds by) {
    const auto until = now_ + by;
    run();
    while (!timers_.empty() && timers_.begin()->first <= until) {
      auto next = timers_.extract(timers_.begin());
      now_ = std::max(now_, next.key());
      next.mapped()();
      run();
    }
    now_ = until;
  }
  std::unique_ptr<loop_timer> make_timer() { return std::make_unique<timer>(shared_from_this()); }

private:
  using timers = std::multimap<time_point, std::function<void()>>;

  class timer final : public loop_timer {
  public:
    explicit timer(std::shared_ptr<fake_loop> loop) : loop_(std::move(loop)) {}
    ~timer() override { stop(); }
    void start(std::chrono::nanoseconds delay, std::function<void()> on_expiry) override {
      auto call = [this, on_expiry = std::move(on_expiry)] {
        place_ = loop_->timers_.end();
        on_expiry();
      };
      stop();
      place_ = loop_->timers_.emplace(loop_->now_ + delay, std::move(call));
    }
    /// What was started may hold the owner of this timer.
    void stop() override {
      if (const auto place = std::exchange(place_, loop_->timers_.end()); place != place_)
        const auto before = loop_->timers_.extract(place);
    }

  private:
    const std::shared_ptr<fake_loop> loop_;
    timers::iterator place_ = loop_->timers_.end();
  };

  time_point now_ = peer_link::clock::now();
  std::vector<std::function<void()>> jobs_;
  timers timers_;
};

/// The frames in these bytes, each with its length.
inline std::vector<buffer> frames_of(std::span<const std::byte> bytes) {
  std::vector<buffer> result;
  while (bytes.size() >= 4) {
    const auto size = 4 + (load_be<std::uint32_t>(bytes.data()) & ~wire::batch_flag);
    result.emplace_back(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(size);
  }
  return result;
}

class fake_link final : public peer_link {
public:
  explicit fake_link(std::shared_ptr<fake_loop> loop, const queue_options& options = {},
                     std::uint32_t max_frame_bytes = 16 * 1024 * 1024, std::string address = "fake")
      : peer_link({std::move(address), 1}, options, max_frame_bytes), loop_(std::move(loop)) {}

  // -- the node's side ---------------------------------------------------------------------------

  void start(std::shared_ptr<link_handler> handler) override { handler_ = std::move(handler); }
  void post(std::function<void()> job) override { loop_->post(std::move(job)); }
  std::unique_ptr<loop_timer> make_timer() override { return loop_->make_timer(); }
  clock::time_point now() const override { return loop_->now(); }
  void close(error reason = {}) override {
    post([self = weak_from_this(), reason = std::move(reason)] {
      if (const auto held = self.lock())
        static_cast<fake_link&>(*held).end(reason);
    });
  }
  void close_when_written() override { close_when_written_ = true; }

  // -- the peer's side ---------------------------------------------------------------------------

  /// The peer sends these bytes. Whole frames are handed on, as long as the link reads.
  void receive(std::span<const std::byte> bytes) {
    unread_.insert(unread_.end(), bytes.begin(), bytes.end());
    deliver();
  }
  /// The peer reads all that is due to be written; a link that closes when that is written does.
  buffer take_written() {
    buffer result;
    gathered_write written;
    for (protocol_->gather(*this, written); !written.empty(); protocol_->gather(*this, written))
      for (const auto& each : written.buffers) {
        const auto* const data = static_cast<const std::byte*>(each.data());
        result.insert(result.end(), data, data + each.size());
        written.advance(each.size(), [this](auto hops, auto size) { out(hops).written(size); });
      }
    bytes_sent_.fetch_add(result.size());
    if (close_when_written_)
      end({});
    return result;
  }
  std::vector<buffer> take_frames() { return frames_of(take_written()); }
  /// The connection breaks.
  void end(const error& reason) {
    if (closed_.exchange(true))
      return;
    close_all();
    reason_ = reason;
    if (const auto handler = std::exchange(handler_, nullptr))
      handler->on_closed(reason);
  }
  /// Why it was closed.
  const error& reason() const { return reason_; }
  /// Called when there is something to be written.
  std::function<void()> on_output;

private:
  void on_work() override {
    if (on_output)
      on_output();
  }
  void on_resume() override {
    post([self = weak_from_this()] {
      if (const auto held = self.lock()) {
        static_cast<fake_link&>(*held).note_room();
        static_cast<fake_link&>(*held).deliver();
      }
    });
  }
  void deliver() {
    while (!closed() && !paused() && unread_.size() >= 4) {
      const auto length = bounds_.length_at(unread_.data());
      if (!length.allowed)
        return end({errc::limit_exceeded, "too long"});
      const auto size = 4 + std::size_t{length.bytes};
      if (unread_.size() < size)
        return;
      auto memory = chunk::make(size);
      std::copy_n(unread_.begin(), size, memory->data());
      unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(size));
      bytes_received_.fetch_add(size);
      if (const auto handler = handler_)
        handler->on_frames(memory, {memory->data(), size});
      give_credit(false);
    }
  }

  const std::shared_ptr<fake_loop> loop_;
  std::shared_ptr<link_handler> handler_;
  buffer unread_;
  error reason_;
  bool close_when_written_ = false;
};

} // namespace pubsub::test
