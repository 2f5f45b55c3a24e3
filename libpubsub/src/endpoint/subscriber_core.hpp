// What a subscriber handle owns: its place in the routes, and its queue.
#pragma once

#include <memory>
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
  subscriber_core(const subscriber_core&) = delete;
  subscriber_core& operator=(const subscriber_core&) = delete;

  received<data_message> get(const deadline& until);
  /// Appends to `out`.
  receive_status get_batch(std::vector<data_message>& out, std::size_t max, const deadline& until);
  received<std::vector<data_message>> get_batch(std::size_t max, const deadline& until);
  int fd();
  std::size_t available() const;
  subscriber_counters counters() const;
  bool closed() const { return queue_->finished(); }
  bool wait_ready(const deadline& until);
  void close();

  void add_topic(std::string_view prefix);
  void remove_topic(std::string_view prefix);
  filter topics() const { return owner_->routes().subscriber_filter(*id_); }
  subscriber_id id() const noexcept { return *id_; }
  const queue_options& options() const noexcept { return options_; }

private:
  /// Why there was nothing: more may come, unless all that was queued has been read.
  receive_status why_nothing() const {
    return closed() && available() == 0 ? receive_status::closed : receive_status::timeout;
  }

  /// 0 until the routes know this subscriber, which a queue that overflows at once finds.
  using shared_id = std::shared_ptr<std::atomic<subscriber_id>>;
  static constexpr std::size_t batch_messages = 256;

  static std::shared_ptr<message_queue>
  make_queue(endpoint_core& owner, const queue_options& options, const shared_id& id);

  const std::shared_ptr<endpoint_core> owner_;
  const queue_options options_;
  const shared_id id_ = std::make_shared<std::atomic<subscriber_id>>(0);
  const std::shared_ptr<message_queue> queue_;
  std::vector<data_message> taken_; // from the queue, not yet given out from next_ on
  std::size_t next_ = 0;
  std::atomic<bool> discarded_{false}; // closed: what was taken is not given out any more
  bool polled_ = false;                // the fd is watched: no more is taken than is given out
};

} // namespace pubsub
