// SPDX-License-Identifier: BSD-3-Clause
#include "link/written_together.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace pubsub {

/// Some links, which any thread writes.
class written_together::round {
public:
  round() { links_.reserve(link_tuning::links_written_together); }

  void add(std::shared_ptr<target> x) { links_.push_back(std::move(x)); }
  bool full() const noexcept { return links_.size() >= link_tuning::links_written_together; }

  /// From each loop on which one of the links lives.
  static void post(const std::shared_ptr<round>& x) {
    std::vector<asio::io_context*> loops;
    for (const auto& each : x->links_)
      if (std::ranges::find(loops, &each->loop()) == loops.end())
        loops.push_back(&each->loop());
    for (auto* const each : loops)
      asio::post(*each, [x] { x->write(); });
  }
  /// Those that no other thread has taken.
  void write() noexcept {
    for (auto i = next_.fetch_add(1); i < links_.size(); i = next_.fetch_add(1))
      try {
        links_[i]->write_here();
      } catch (const std::exception& failed) { // out of memory
        log(log_level::error, std::string{"writing to a link failed: "} + failed.what());
      }
  }

private:
  std::vector<std::shared_ptr<target>> links_;
  std::atomic<std::size_t> next_{0}; // the first that no thread has taken
};

void written_together::take(std::shared_ptr<target> x) {
  if (!round_)
    round_ = std::make_shared<round>();
  round_->add(std::move(x));
  if (round_->full())
    hand_over();
}

void written_together::hand_over() noexcept {
  const auto all = std::move(round_);
  if (!all)
    return;
  try {
    round::post(all);
  } catch (const std::exception&) { // there is no memory for that: this thread writes
    all->write();
  }
}

} // namespace pubsub
