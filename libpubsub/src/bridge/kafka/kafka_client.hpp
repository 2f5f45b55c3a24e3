// What producers and consumers of Kafka have in common: settings, handles, and what goes wrong.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <librdkafka/rdkafka.h>
#include <pubsub/bridge/engines.hpp>
#include <pubsub/error.hpp>

#include "base/unique_fd.hpp"

namespace pubsub::bridge {

template <auto destroy>
struct destroy_with {
  template <class T>
  void operator()(T* x) const noexcept {
    destroy(x);
  }
};
using kafka_conf = std::unique_ptr<rd_kafka_conf_t, destroy_with<rd_kafka_conf_destroy>>;
using kafka_handle = std::unique_ptr<rd_kafka_t, destroy_with<rd_kafka_destroy>>;
using kafka_queue = std::unique_ptr<rd_kafka_queue_t, destroy_with<rd_kafka_queue_destroy>>;
using kafka_topic = std::unique_ptr<rd_kafka_topic_t, destroy_with<rd_kafka_topic_destroy>>;
using kafka_error = std::unique_ptr<rd_kafka_error_t, destroy_with<rd_kafka_error_destroy>>;
using kafka_partitions = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                         destroy_with<rd_kafka_topic_partition_list_destroy>>;

/// What the library complains about, from any of its threads.
class kafka_problems {
public:
  void note(std::string what);
  std::string last() const;
  /// All is well again.
  void clear();
  /// A broker does not let this client in, or is not who it should be. Not said once any broker has
  /// let it in: then trying goes on, as a password may be changed on both sides while a bridge
  /// runs.
  void note_refusal(std::string why);
  /// No broker can be reached, and none could before. Said once, and maybe long before a broker
  /// starts that refuses this client.
  void note_all_down();
  /// Why there is nothing to wait for, with `denied`: a broker refuses this client, and there is no
  /// other. `none` while there may be.
  error refusal() const;

private:
  mutable std::mutex mutex_; // guards the following
  std::string last_;
  std::string refusal_;
  bool all_down_ = false;
};

using kafka_setting = std::pair<std::string_view, std::string_view>;

/// Settings for a client: `usual`, then those of the user, then `fixed`, which the user may repeat
/// but not change. Errors: invalid_argument; the context names the setting. `problems` outlives
/// what is made of it.
expected<kafka_conf> make_conf(const kafka& options, kafka_problems& problems,
                               std::initializer_list<kafka_setting> usual,
                               std::initializer_list<kafka_setting> fixed);
/// Errors: invalid_argument; settings do not fit together.
expected<kafka_handle> make_client(rd_kafka_type_t type, kafka_conf conf);

/// A descriptor that is readable while the queue may hold something; to be cleared before looking.
class kafka_event {
public:
  explicit kafka_event(rd_kafka_queue_t* of);

  int fd() const noexcept { return fd_.get(); }
  void clear() const noexcept;

private:
  unique_fd fd_;
};

} // namespace pubsub::bridge
