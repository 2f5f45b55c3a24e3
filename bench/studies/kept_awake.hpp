// Processors that do not fall asleep while something is measured.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pubsub::tool::bench {

/// Waking a processor that has nothing to do takes a virtual machine tens of microseconds, and
/// another time each time: of short exchanges that is most of what would be measured. While one of
/// these lives, idle processors of the whole machine wait awake (Linux: `/dev/cpu_dma_latency`,
/// which is for whoever may write to it, as a rule root).
class kept_awake {
public:
  /// Does nothing unless `wanted`.
  explicit kept_awake(bool wanted) noexcept;
  kept_awake(const kept_awake&) = delete;
  kept_awake& operator=(const kept_awake&) = delete;
  ~kept_awake();

  bool in_effect() const noexcept { return request_ >= 0; }
  /// For people, beside the figures.
  const char* text() const noexcept;

private:
  int request_ = -1; // a descriptor: the request holds until it is closed
};

} // namespace pubsub::tool::bench
