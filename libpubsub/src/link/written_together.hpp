// Who writes a message that goes over very many links.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "link/tuning.hpp"
#include "transport/asio.hpp"

namespace pubsub {

/// While a thread gives work to very many links, they are written by all their loops together: each
/// takes the next link, wherever that lives, so that none has nothing to do while many links of
/// another one wait. Thread-safety: one thread.
class written_together {
public:
  /// A link, as far as it is written.
  class target {
  public:
    /// Writes what waits, as far as that can be done at once; the loop goes on. From any thread.
    virtual void write_here() = 0;
    /// On which it lives.
    virtual asio::io_context& loop() const noexcept = 0;

  protected:
    ~target() = default;
  };

  static bool are_few(std::size_t links) noexcept {
    return links <= link_tuning::most_links_written_at_once;
  }
  /// Calls `push`, which gives work to so many links and waits for nothing.
  template <class F>
  static auto unless_few(std::size_t links, F push) {
    if (are_few(links)) [[likely]]
      return push();
    const written_together by_all_loops;
    return push();
  }
  written_together(const written_together&) = delete;
  written_together& operator=(const written_together&) = delete;

  /// Whether the thread is at that, for `add`.
  static bool is_on() noexcept { return here_ != nullptr; }
  static void add(std::shared_ptr<target> x) { here_->take(std::move(x)); }

private:
  class round;

  written_together() noexcept : before_(std::exchange(here_, this)) {}
  ~written_together() {
    here_ = before_;
    hand_over();
  }
  void take(std::shared_ptr<target> x);
  void hand_over() noexcept;

  inline static thread_local written_together* here_ = nullptr;
  written_together* const before_;
  std::shared_ptr<round> round_; // the links not handed over yet; null if there are none
};

} // namespace pubsub
