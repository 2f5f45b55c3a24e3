// What a client learns of the way to its service from replies. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <pubsub/pattern/remote_options.hpp>

namespace pubsub::pattern {

/// A reply, and the request that the last operation in it came by.
struct reply_sample {
  std::uint32_t operation = 0; ///< whatever tells one from another
  std::chrono::steady_clock::time_point sent{};
  std::chrono::steady_clock::time_point received{};
  std::chrono::nanoseconds here{0}; ///< of these the server had it
  std::chrono::nanoseconds busy{0}; ///< in handlers, of all operations in the reply
  std::uint64_t operations = 0;     ///< in the reply
  std::uint64_t asked = 0;          ///< in the request
  std::size_t request_bytes = 0;
  std::size_t reply_bytes = 0;
  bool alone = false;  ///< nothing else was under way when it was sent
  bool prompt = false; ///< the client was waiting for it when it came
};

/// The greatest of the recent past: that of this period and the one before.
class recent_best {
public:
  using time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds memory{1'000};

  void add(double x, time now) noexcept {
    if (now - begin_ >= memory / 2) {
      before_ = now - begin_ < memory ? current_ : none;
      current_ = none;
      begin_ = now;
    }
    raise(x);
  }
  /// Without forgetting anything.
  void raise(double x) noexcept { current_ = x > current_ ? x : current_; }
  bool known() const noexcept { return get() > none; }
  double get() const noexcept { return before_ > current_ ? before_ : current_; }
  /// 0 as long as nothing is known.
  double value() const noexcept { return known() ? get() : 0; }

private:
  static constexpr double none = -1e300;
  double current_ = none, before_ = none;
  time begin_{};
};

/// Latency is the least of the recent past, rates are the highest: what disturbs them makes the one
/// longer and the others lower. Averages forget with each operation. When conditions change, what
/// was measured before is forgotten after `recent_best::memory`.
class remote_meter {
public:
  using time = std::chrono::steady_clock::time_point;

  void add(const reply_sample& x);
  /// What operations cost the client itself, from being asked for until they are on their way or
  /// from their reply until they are complete.
  void add_calls(std::uint64_t operations, std::chrono::nanoseconds took, bool coming_back);
  /// As the last reply has left them.
  const remote_conditions& conditions() const noexcept { return conditions_; }
  /// As they are for this operation, as far as it is known.
  remote_conditions conditions(std::uint32_t operation) const;

private:
  void add_latency(const reply_sample& x);
  void add_averages(const reply_sample& x);
  void add_single_transfers(const reply_sample& x);
  void add_flow(const reply_sample& x);

  struct averages {
    std::chrono::nanoseconds operation{0};
    double argument_bytes = 0, result_bytes = 0;
  };
  static void put(const averages& x, remote_conditions& into) noexcept;

  remote_conditions conditions_;
  std::vector<averages> operations_;
  recent_best shortest_;            // trip, negated
  recent_best up_, down_;           // bytes per second
  double there_s_ = 0, back_s_ = 0; // what an operation costs the client
  struct {
    time begin{};
    double messages = 0, request_bytes = 0, reply_bytes = 0;
  } flow_; // since a reply, without a break
};

} // namespace pubsub::pattern
