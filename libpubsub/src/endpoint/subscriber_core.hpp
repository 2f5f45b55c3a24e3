// What a subscriber handle owns: its place in the routes, and its queue.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "endpoint/core.hpp"

namespace pubsub {

/// `get` takes messages from the queue in small batches, so that a stream of single reads does not
/// lock once per message; everything else looks at the taken ones first. Thread-safety: as
/// subscriber.
class subscriber_core {
public:
  subscriber_core(std::shared_ptr<endpoint_core> owner, const filter& topics,
                  const queue_options& options);
  ~subscriber_core() { close(); }

  std::optional<data_message> get(const deadline& until);
  std::size_t get_batch(std::vector<data_message>& out, std::size_t max, const deadline& until);
  int fd();
  std::size_t available() const;
  subscriber_counters counters() const;
  bool closed() const { return queue_->finished(); }
  void close();

  router& routes() noexcept { return owner_->routes(); }
  subscriber_id id() const noexcept { return id_; }

private:
  static constexpr std::size_t batch_messages = 256;

  const std::shared_ptr<endpoint_core> owner_;
  const std::shared_ptr<message_queue> queue_;
  const subscriber_id id_;
  std::vector<data_message> taken_; // from the queue, not yet given out from next_ on
  std::size_t next_ = 0;
  std::atomic<std::size_t> taken_left_{0};
  std::atomic<bool> discarded_{false}; // closed: what was taken is not given out any more
  bool polled_ = false;                // someone watches the fd: take no more than is given out
};

} // namespace pubsub
