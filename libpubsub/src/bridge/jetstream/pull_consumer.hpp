// One consumer of a stream: made where it is missing, asked for records, and told what is done.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/value/time.hpp>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/jetstream/api_reply.hpp"
#include "bridge/jetstream/delivery.hpp"
#include "bridge/jetstream/nats_link.hpp"

namespace pubsub::bridge {

struct pull_options {
  std::string stream;
  std::string durable; ///< empty: a consumer of the reader's own, without acknowledgements
  std::string filter;  ///< empty: all subjects
  /// `all`, `new`, `by_start_sequence` or `by_start_time`
  std::string begin = "all";
  std::uint64_t sequence = 0;
  timestamp time{};
  bool begin_anew = false; ///< a durable consumer that exists is made again
};

/// A durable consumer remembers what was acknowledged, and gives out again what was not within half
/// a minute; as long as this object has a record it says that it is at it. One without a name is
/// made again behind the last record where the connection was lost. Not thread-safe.
class pull_consumer {
public:
  using clock = std::chrono::steady_clock;

  /// `index`: unique among those of a link.
  pull_consumer(pull_options options, std::size_t index);

  /// The link has another connection.
  void begin(nats_link& link);
  /// Takes what has come, and asks for more, so that `max` records wait at most.
  void step(nats_link& link, std::size_t max);
  /// Moves records to `out`.
  void give_out(std::vector<fetched_record>& out, std::size_t max);

  /// Acknowledges everything that `give_out` has returned.
  void acknowledge(nats_link& link);
  /// Whether the server has said that everything was acknowledged.
  bool acknowledged() const noexcept { return given_ == 0; }
  /// Gives back what was not acknowledged: another reader gets it at once.
  void give_back(nats_link& link);

  bool at_end() const noexcept;
  std::uint64_t lag() const noexcept { return pending_ + waiting_.size(); }
  const error& failure() const noexcept { return failure_; }
  const std::string& problem() const noexcept { return problem_; }

private:
  enum class phase : std::uint8_t { looking, removing, making, ready };
  struct held {
    std::uint64_t sequence;
    std::string answer; // the subject on which it is acknowledged
    clock::time_point since;
  };

  bool is_durable() const noexcept { return !options_.durable.empty(); }
  std::string api(std::string_view verb) const;
  void look(nats_link& link);
  void make(nats_link& link);
  std::string configuration() const;
  void take_answer(nats_link& link, natsMsg& answer);
  void take_looked(nats_link& link, const api_reply& reply);
  void take_error(nats_link& link, const api_error& what);
  void take_acknowledged(std::string_view token);
  void take_message(natsMsg& message);
  void take_status(natsMsg& message);
  bool is_held_already(const delivery& about, const char* answer);
  void pull(nats_link& link, std::size_t max);
  void hold_on(nats_link& link);
  void start_over();
  void again_later(std::string why);

  const pull_options options_;
  const std::string answers_prefix_, records_prefix_;
  api_parser parser_;
  nats_ptr<natsSubscription> answers_, records_;
  std::string name_; // on the server
  phase now_ = phase::looking;
  bool begun_ = false; // a durable one was made again, if it had to be
  std::deque<fetched_record> waiting_;
  std::deque<held> held_;              // of a durable one: not acknowledged, in the order they came
  std::size_t given_ = 0;              // the first ones of held_: not in waiting_ any more
  std::size_t being_acknowledged_ = 0; // the first ones of those
  std::uint64_t acknowledgement_ = 0;  // number of the last one
  clock::time_point acknowledged_at_{};
  std::size_t asked_ = 0; // records that were asked for and have not come
  std::uint64_t last_sequence_ = 0;
  std::uint64_t last_delivery_ = 0;
  std::uint64_t delivered_ = 0; // as the server says
  std::uint64_t pending_ = 0;
  std::uint64_t unacknowledged_ = 0; // on the server, by all readers
  bool informed_ = false;
  clock::time_point asked_at_{};
  clock::time_point ask_at_{}; // not before
  clock::time_point inform_at_{};
  clock::time_point hold_at_{};
  std::string problem_;
  error failure_;
};

} // namespace pubsub::bridge
