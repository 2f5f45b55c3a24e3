// What exchanges and queues say to each other, as values in bin::v1. Pure: values in, values out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/message_fields.hpp"
#include "pattern/mailbox/pattern_topic.hpp"
#include "pattern/mailbox/sequence_ranges.hpp"

namespace pubsub::pattern {

/// Where tasks come from. The secret goes with them, and shows that an acknowledgement comes from
/// where they have been.
struct task_source {
  task_source(const endpoint_id& exchange = {}, std::uint64_t known_to_queues = 0) noexcept
      : id(exchange), secret(known_to_queues) {}

  endpoint_id id;
  std::uint64_t secret = 0;

  friend auto operator<=>(const task_source&, const task_source&) = default;
  static auto fields(auto& x) { return std::tie(x.id, x.secret); }
};

/// Tasks that travel, wait and are acknowledged together. Their numbers are those that their source
/// gave them, whatever stages they have passed.
struct task_batch {
  task_source source;
  sequence_list numbers;
  data_writer values; ///< as many, one behind the other
  bool redelivered = false;
  bool direct = false; ///< the queue at the end of the pipeline tells the source what is done

  std::size_t size() const noexcept { return numbers.size(); }
};

/// Where a batch stands among all tasks that an exchange has given a queue: these have the places
/// `first`, `first + 1` and so on.
struct batch_position {
  endpoint_id exchange;
  std::uint64_t first = 0;
  std::uint64_t settled = 0; ///< places below are done with: the exchange asks for them no more
  bool urgent = false;       ///< the exchange waits for reports
};

/// To a queue: a batch of tasks. `Values`: value_list to write it, data_view to read it.
template <class Values>
struct tasks_message {
  static constexpr std::uint64_t kind = 1;
  batch_position at;
  bool redelivered = false;
  bool direct = false;
  task_source source;
  std::vector<sequence_range> numbers; ///< of all values together
  Values values;

  static auto fields(auto& x) {
    return std::tie(x.at.exchange, x.at.first, x.at.settled, x.at.urgent, x.redelivered, x.direct,
                    x.source, x.numbers, x.values);
  }
  bool adds_up() const {
    std::uint64_t n = 0;
    for (const auto& each : numbers)
      n += std::min<std::uint64_t>(each.count, std::uint64_t{1} << 32); // more than a message holds
    return n == values.size() && at.first + n >= at.first;
  }
};
using tasks_view = tasks_message<data_view>;

/// The batch must outlive it.
inline tasks_message<value_list> message_of(const batch_position& at, const task_batch& tasks) {
  const value_list values{tasks.size(), tasks.values.bytes()};
  return {at, tasks.redelivered, tasks.direct, tasks.source, tasks.numbers.runs(), values};
}

/// To an exchange: a queue is there, takes so many tasks before it has acknowledged them, and this
/// is how far it is with those of this exchange. Sent as an acknowledgement, and from time to time.
struct queue_report {
  static constexpr std::uint64_t kind = 2;
  endpoint_id queue;
  std::uint64_t credit = 0;
  std::uint64_t concurrency = 1; ///< how many tasks are worked on at a time
  std::uint64_t received = 0;    ///< places below have come
  std::uint64_t taken = 0;       ///< places below are being worked on, or done
  std::uint64_t timed = 0;       ///< so many tasks, of all exchanges,
  std::uint64_t busy_ns = 0;     ///< have taken so long
  std::uint64_t done = 0;        ///< places below are done
  std::vector<sequence_range> done_above;
  std::vector<sequence_range> rejected; ///< are not done, and will not be

  static auto fields(auto& x) {
    return std::tie(x.queue, x.credit, x.concurrency, x.received, x.taken, x.timed, x.busy_ns,
                    x.done, x.done_above, x.rejected);
  }
};

/// To the queues of a name: they are to report themselves to this exchange. To other exchanges of
/// its name: it is taken.
struct exchange_hello {
  static constexpr std::uint64_t kind = 3;
  endpoint_id exchange;
  std::uint64_t age_ns = 0; ///< so long it has been there

  static auto fields(auto& x) { return std::tie(x.exchange, x.age_ns); }
};

/// To a source, from the end of the pipeline: these are done, whatever the stages between know.
struct completion {
  static constexpr std::uint64_t kind = 5;
  std::uint64_t secret = 0; ///< of the source
  std::vector<sequence_range> numbers;

  static auto fields(auto& x) { return std::tie(x.secret, x.numbers); }
};

/// To queues that give out tasks by number: those of this source below are done, or never will be.
struct progress_report {
  static constexpr std::uint64_t kind = 4;
  endpoint_id source;
  std::uint64_t below = 0;

  static auto fields(auto& x) { return std::tie(x.source, x.below); }
};

/// Where queues bound to an exchange of this name report themselves, and it claims the name.
inline constexpr topic_kind topic_of_exchange_name{"pipeline/exchange-name"};
/// Where exchanges bound to queues of this name invite them.
inline constexpr topic_kind topic_of_queue_name{"pipeline/queue-name"};
/// Where an exchange receives reports; where a queue receives tasks.
inline constexpr topic_kind topic_of_exchange{"pipeline/exchange"};
inline constexpr topic_kind topic_of_queue{"pipeline/queue"};
/// Where sources publish their progress: all of them, and this one.
inline constexpr std::string_view progress_topics = "pipeline/progress/";
inline constexpr topic_kind topic_of_progress{"pipeline/progress"};

} // namespace pubsub::pattern
