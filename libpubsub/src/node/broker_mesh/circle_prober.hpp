// Probes over one Broker peer, twice a second.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pubsub/endpoint_id.hpp>

#include "link/peer_link.hpp"
#include "node/broker_mesh/circles.hpp"
#include "wire/broker/circle_probe.hpp"

namespace pubsub {

/// Sends probes on the topics that could go round, as long as the link is open and `stop` was not
/// called. Where there are many topics, one part comes after the other. Thread-safety: the link's
/// loop.
class circle_prober {
public:
  /// Replaces the topics where they have changed; called before each round of probes.
  using refresh = std::function<void(std::vector<std::string>& topics)>;

  circle_prober(const endpoint_id& self, const endpoint_id& over, std::shared_ptr<peer_link> via,
                refresh look)
      : who_{self, over}, via_(std::move(via)), look_(std::move(look)), timer_(via_->make_timer()) {
  }

  /// `keep` holds this object between the rounds.
  void start(const std::shared_ptr<void>& keep) {
    timer_->start(circles::time_between_probes, [this, keep] {
      if (stopped_)
        return;
      send();
      start(keep);
    });
  }
  void stop() {
    stopped_ = true;
    timer_->stop();
  }

private:
  static constexpr std::size_t max_probes_at_once = 256;

  /// What a peer does not read is not added to.
  void send() {
    if (via_->control_bytes() > 0)
      return;
    look_(topics_);
    const auto n = std::min(topics_.size(), max_probes_at_once);
    for (std::size_t i = 0; i < n; ++i)
      via_->push_control(wire::make_circle_probe(who_, topics_[(next_ + i) % topics_.size()]));
    next_ += n;
  }

  const wire::circle_probe who_;
  const std::shared_ptr<peer_link> via_;
  const refresh look_;
  const std::unique_ptr<loop_timer> timer_;
  std::vector<std::string> topics_;
  std::size_t next_ = 0;
  bool stopped_ = false;
};

} // namespace pubsub
