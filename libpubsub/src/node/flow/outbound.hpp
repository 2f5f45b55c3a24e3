// Publishing: from a value on the caller's thread to queues and link outboxes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <span>
#include <string_view>

#include <pubsub/publishable.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "message/repeated_message.hpp"
#include "node/flow/live_counters.hpp"
#include "node/flow/record_stream.hpp"
#include "node/routing/dispatcher.hpp"
#include "queue/run_writer.hpp"

namespace pubsub {

/// One publishing thread's way into the endpoint: routes at hand, a slab that each message is
/// encoded into at most once whatever the number of links, and the runs that the queues read.
/// Thread-safety: one thread.
class outbound {
public:
  /// `except`: a queue that gets nothing of what is published; it must outlive this.
  outbound(const endpoint_id& self, router& routes, bool own_messages,
           std::uint32_t max_frame_bytes, std::shared_ptr<live_counters> counts,
           const message_queue* except = nullptr)
      : self_(self), routes_(self, routes, {.queues = own_messages, .except = except}),
        flushes_(routes.flushes()), max_frame_bytes_(max_frame_bytes), counts_(std::move(counts)),
        stream_(self), addressed_(self) {}

  /// `until`: how long to wait for full queues with policy `block`; nothing means without limit.
  publish_result publish(std::string_view topic, publishable&& what, const deadline& until = {});
  /// To the subscribers of one other endpoint only, whatever it has announced.
  publish_result publish_to(const endpoint_id& receiver, std::string_view topic,
                            const publishable& what, const deadline& until = {});
  publish_result refuse_closed() { return refuse(counts_->refused_closed); }
  publisher_counters counters() const noexcept { return counts_->of_publisher(); }
  /// What is published next comes behind everything other threads have published by then.
  void seal() noexcept;

private:
  bool append_next(std::string_view topic, std::span<const std::byte> value);
  publish_result find_way(std::string_view topic, publishable&& what, const deadline& until);
  publish_result publish_encoded(std::string_view topic, std::span<const std::byte> value,
                                 const deadline& until);
  void note_way(std::string_view topic, const route& to) noexcept;
  publish_result publish_value(std::string_view topic, data value, const deadline& until);
  publish_result publish_message(std::string_view topic, const data_message& msg,
                                 const deadline& until);
  live_counter* refusal(std::string_view topic, std::size_t payload_size) const noexcept;
  std::size_t too_many_bytes(std::string_view topic) const noexcept;
  static publish_result refuse(live_counter& cause) noexcept {
    cause.add(1);
    return publish_result::refused;
  }
  void take_new_routes() {
    if (routes_.refresh()) [[unlikely]]
      leave_old_routes();
  }
  void leave_old_routes();
  /// `value()`: the message, encoded.
  template <class Value>
  const route* resolve(std::string_view topic, Value&& value, const deadline& until) {
    return once_ready(
        [&]() -> const route& {
          return routes_.select(routes_.resolve(topic, until), topic, value);
        },
        until);
  }
  /// What `find` returns when messages may take it: what took another before has arrived, and links
  /// have room. Found again if routes change while this waits: a link may be about to end. Null if
  /// that is not so at `until`.
  template <class Find>
  const route* once_ready(Find find, const deadline& until) {
    next_bytes_below_ = 0;
    while (true) {
      take_new_routes();
      const auto& to = find();
      left_out_ = to.left_out;
      const bool waits = !unsettled_.empty() || is_to_be_entered(to);
      if (waits && !(is_flushed(to, until) && run_writer::wait_for_room(to.to_all(), until)))
        return nullptr;
      if (!waits || !routes_.outdated())
        return &to;
    }
  }
  /// Whether the run at hand does not go on over these links.
  bool is_to_be_entered(const route& to) const noexcept {
    return !to.links.empty() && !records_.goes_on(to.to_links()) && !records_.goes_on(to.to_all());
  }
  bool is_flushed(const route& to, const deadline& until);
  push_result end_record(record_stream& from, const route& to, run_writer::exits exits,
                         const deadline& until);
  push_result end_in_fresh_run(record_stream& from, const route& to, run_writer::exits exits,
                               const deadline& until);
  /// Whether a link had no room, so that the route has to be found again.
  static bool is_to_be_tried(push_result sent, const route& to) noexcept {
    return sent == push_result::would_block && !to.links.empty();
  }
  publish_result publish_built(std::string_view topic, data_message msg, std::size_t payload_size,
                               const deadline& until);
  publish_result leave();
  publish_result count(push_result result);
  [[gnu::always_inline]] void count_published() noexcept {
    counts_->published.add(1);
    if (!left_out_.any())
      return;
    counts_->denied.add(left_out_.denied);
    counts_->withheld.add(left_out_.withheld);
  }

  const endpoint_id self_;
  dispatcher routes_;
  route_flushes& flushes_;
  struct unsettled_route {
    std::shared_ptr<route_flush> flush;
    std::set<endpoint_id> nodes; // that took it
  };
  std::vector<unsettled_route> unsettled_; // are taken no more
  peers_left_out left_out_;                // of the message at hand
  const std::uint32_t max_frame_bytes_;
  const std::shared_ptr<live_counters> counts_;
  record_stream stream_;
  record_stream addressed_; // messages for one receiver each: no other misses one of its numbers
  run_writer records_;      // encoded messages: to links, or to links and queues
  run_writer handles_;      // built messages: to queues
  bool records_to_queues_ = false;
  // An encoded message on the topic of the last one goes the same way if it has fewer bytes than
  // this. 0 where the last one was not the last record of both stream_ and records_, or where its
  // way asks more of the next one.
  std::size_t next_bytes_below_ = 0;
  repeated_message repeated_;
  std::vector<std::byte> encoded_; // a value, where conditions look at it
};

} // namespace pubsub
