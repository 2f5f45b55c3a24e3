// Broker's publisher, over the library's own.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/builder.hpp>
#include <pubsub/compat/broker/encoding.hpp>
#include <pubsub/compat/broker/message.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>

namespace broker {
inline namespace over_pubsub {

/// Publishes to one topic; made by `endpoint::make_publisher`. One thread at a time. `publish`
/// waits where Broker would cut off a peer that does not keep up.
class publisher {
public:
  using value_type = data_message;

  void publish(const data& x) {
    if (native_ == nullptr)
      return;
    encoded_.clear();
    detail::encode(encoded_, x);
    static_cast<void>(native_->publish(encoded_.bytes()));
  }
  /// Each as a message: a list goes as one in `data{list}`.
  void publish(const std::vector<data>& xs) {
    for (const auto& each : xs)
      publish(each);
  }

  void publish(list_builder&& x) { publish(x.build()); }
  void publish(set_builder&& x) { publish(x.build()); }
  void publish(table_builder&& x) { publish(x.build()); }

  /// Messages that may wait for one peer before `publish` waits.
  std::size_t capacity() const { return pubsub::queue_options{}.capacity_messages; }
  /// Messages of this endpoint that wait to be written to its peers.
  std::size_t buffered() const {
    return native_ != nullptr ? static_cast<std::size_t>(node_->counters().links.queued) : 0;
  }
  std::size_t free_capacity() const {
    const auto waiting = buffered();
    return waiting < capacity() ? capacity() - waiting : 0;
  }
  std::size_t demand() const { return free_capacity(); }
  /// For select and poll: readable always, since `publish` may be called at any time.
  int fd() const { return readable_->fd(); }
  /// No effect: what was published is the endpoint's to send.
  void drop_all_on_destruction() {}
  /// Ends it; what was published is still sent.
  void reset() { native_.reset(); }

private:
  friend class endpoint;
  publisher(std::shared_ptr<pubsub::endpoint> node, const topic& where)
      : node_(std::move(node)),
        native_(std::make_unique<pubsub::publisher>(node_->make_publisher(where.string()))),
        readable_(std::make_unique<pubsub::subscriber>(node_->make_subscriber({}))) {
    readable_->close(); // the descriptor of a closed subscriber is readable
  }

  std::shared_ptr<pubsub::endpoint> node_;
  std::unique_ptr<pubsub::publisher> native_;
  std::unique_ptr<pubsub::subscriber> readable_;
  pubsub::data_writer encoded_;
};

} // namespace over_pubsub
} // namespace broker
