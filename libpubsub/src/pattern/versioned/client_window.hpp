// What a client of a group has sent and what has become of it. Pure: messages and the time in,
// messages and results out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/versioned_options.hpp>

#include "pattern/versioned/membership.hpp"
#include "pattern/versioned/replica_books.hpp"
#include "pattern/versioned/versioned_messages.hpp"

namespace pubsub::pattern {

/// What became of messages that were sent together.
struct finished_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  message_version at; ///< of the first
  pubsub::error error;
};

/// Messages go in batches: what is sent while others are under way waits for company. Not
/// thread-safe.
class client_window {
public:
  using time = std::chrono::steady_clock::time_point;

  client_window(const endpoint_id& id, std::string group_name,
                const versioned_group_options& options, versioned_port& port, time now);

  bool has_room() const noexcept {
    return in_flight_ == 0 ||
           (in_flight_ < options_.window_messages && bytes_ < options_.window_bytes);
  }
  /// Its number.
  std::uint64_t add(std::span<const std::byte> value, time now);
  /// What is there does not wait for company.
  void flush(time now);
  void send_what_is_due(time now);

  void receive(const data_message& msg, time now);
  void tick(time now);
  time next_tick() const noexcept { return next_tick_; }
  void lose(const endpoint_id& replica);

  std::vector<finished_run> take_finished() { return std::exchange(finished_, {}); }
  bool has_finished() const noexcept { return !finished_.empty(); }
  std::size_t in_flight() const noexcept { return in_flight_; }
  std::size_t replicas(time now) const;
  const versioned_group_counters& counters() const noexcept { return counters_; }
  const error& failure() const noexcept { return failure_; }
  std::vector<endpoint_id> known_replicas() const;

private:
  struct batch {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    data_writer values;
    time made{};
    bool sent = false;      // in this epoch
    bool ever_sent = false; // somebody may have it
    time sent_at{};
    unsigned tries = 0;
    bool granted = false;
    stamped_run run; // number 0: not known
    id_list acks;
  };
  struct known_replica {
    status_message status;
    time heard{};
  };

  bool is_full(const batch& x) const noexcept;
  bool is_ready() const noexcept;
  std::size_t limit_for(const batch& x) const noexcept;
  void close_open();
  void transmit(batch& what, time now);
  bool send_first(const batch& what);
  void send_stamped(batch& what);
  batch* find(std::uint64_t first);
  void hear(const status_message& x, time now);
  void hear(const granted_message& x);
  void hear(const ack_message& x);
  void begin_epoch(const status_message& x);
  bool is_held(const batch& what) const;
  bool is_held_unversioned(const batch& what) const;
  void finish_held();
  void finish(batch& what, const message_version& at, error why);
  void give_up(time now);
  std::string explain(const batch& what, time now) const;
  std::string name_of(const endpoint_id& id) const;
  const id_list* list(std::uint64_t config) const;

  template <class Message>
  std::span<const std::byte> encoded(const Message& x) {
    scratch_.clear();
    write_message(scratch_, x);
    return scratch_.bytes();
  }

  const endpoint_id id_;
  const std::string group_name_;
  const versioned_group_options options_;
  versioned_port& port_;
  data_writer scratch_;

  endpoint_id group_;
  endpoint_id leader_;
  std::uint64_t epoch_ = 0;
  std::map<std::uint64_t, id_list> lists_; // of the epoch, by number
  std::uint64_t decided_ = 0;
  std::map<endpoint_id, known_replica> replicas_;
  time leader_heard_{};
  time next_hello_{};

  std::deque<batch> batches_; // by number
  std::optional<batch> open_; // behind them
  std::vector<data_writer> spare_;
  bool flush_ = false;
  std::size_t under_way_ = 0; // batches that are sent
  std::uint64_t next_number_ = 1;
  std::size_t in_flight_ = 0;
  std::size_t bytes_ = 0;
  std::vector<finished_run> finished_;
  time next_tick_{};
  versioned_group_counters counters_;
  error failure_;
};

} // namespace pubsub::pattern
