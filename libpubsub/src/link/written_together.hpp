// Who writes a message that goes over very many links.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "link/tuning.hpp"
#include "transport/asio.hpp"

namespace pubsub {

/// While one exists that was made for very many exits, the links to which its thread gives work
/// are written by all their loops together: each takes the next link, wherever that lives, so that
/// none has nothing to do while many links of another one wait. Thread-safety: one thread.
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

  explicit written_together(std::size_t exits) noexcept
      : on_(exits > link_tuning::most_links_written_at_once && here_ == nullptr) {
    if (on_)
      here_ = this;
  }
  ~written_together() {
    if (!on_)
      return;
    here_ = nullptr;
    hand_over();
  }
  written_together(const written_together&) = delete;
  written_together& operator=(const written_together&) = delete;

  /// Whether this thread has one, for `add`.
  static bool is_on() noexcept { return here_ != nullptr; }
  static void add(std::shared_ptr<target> x) { here_->take(std::move(x)); }

private:
  class round;

  void take(std::shared_ptr<target> x);
  void hand_over() noexcept;

  inline static thread_local written_together* here_ = nullptr;
  const bool on_;
  std::shared_ptr<round> round_; // the links not handed over yet; null if there are none
};

} // namespace pubsub
