// What exchanges and queues say to each other, as values in bin::v1. Pure: values in, values out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint_id.hpp>

#include "pattern/mailbox/number_runs.hpp"

namespace pubsub::pattern {

/// Tasks that travel, wait and are acknowledged together. Their numbers are those the source that
/// is named gave them, whatever stages they have passed.
struct task_batch {
  endpoint_id source;
  number_list numbers;
  data_writer values; ///< as many, one behind the other
  bool redelivered = false;
  bool direct = false; ///< whoever has done them tells the source

  std::size_t size() const noexcept { return numbers.size(); }
};

/// To a queue: tasks, with places `first`, `first + 1` and so on among all that this exchange has
/// given this queue.
struct tasks_view {
  endpoint_id exchange;
  std::uint64_t first = 0;
  std::uint64_t settled = 0; ///< places below are done with: the exchange asks for them no more
  bool urgent = false;       ///< the exchange waits for reports
  bool redelivered = false;
  bool direct = false;
  endpoint_id source;
  std::vector<number_run> numbers; ///< of all values together
  data_view values;                ///< a vector
};

/// To an exchange: a queue is there, takes so many tasks before it has acknowledged them, and this
/// is how far it is with those of this exchange. Sent as an acknowledgement, and from time to time.
struct queue_report {
  endpoint_id queue;
  std::uint64_t credit = 0;
  std::uint64_t concurrency = 1; ///< how many tasks are worked on at a time
  std::uint64_t received = 0;    ///< places below have come
  std::uint64_t taken = 0;       ///< places below are being worked on, or done
  std::uint64_t timed = 0;       ///< so many tasks, of all exchanges,
  std::uint64_t busy_ns = 0;     ///< have taken so long
  std::uint64_t done = 0;        ///< places below are done
  std::vector<number_run> done_above;
  std::vector<number_run> rejected; ///< are not done, and will not be
};

/// To the queues of a name: an exchange wants to be told of them.
struct invitation {
  endpoint_id exchange;
};

/// To a source, from the end of the pipeline: these are done, whatever stages have not heard of it.
struct completion {
  std::vector<number_run> numbers;
};

/// To other exchanges of a name: it is taken.
struct claim {
  endpoint_id exchange;
  std::uint64_t age_ns = 0; ///< so long it has had the name
};

/// To whoever wants the results of a source in order: numbers below are done, or never will be.
struct progress_report {
  endpoint_id source;
  std::uint64_t below = 0;
};

enum class message_kind : std::uint8_t {
  tasks = 1,
  report = 2,
  invitation = 3,
  progress = 4,
  completion = 5,
  claim = 6
};

/// Whole values.
struct tasks_place {
  endpoint_id exchange;
  std::uint64_t first = 0;
  std::uint64_t settled = 0;
  bool urgent = false;
};
void write_tasks(data_writer& out, const tasks_place& at, const task_batch& tasks);
void write_report(data_writer& out, const queue_report& x);
void write_invitation(data_writer& out, const invitation& x);
void write_progress(data_writer& out, const progress_report& x);
void write_completion(data_writer& out, const completion& x);
void write_claim(data_writer& out, const claim& x);

/// What kind of message this is. Nothing if none of ours.
std::optional<message_kind> kind_of(const data_view& value) noexcept;
/// Nothing if malformed.
std::optional<tasks_view> parse_tasks(const data_view& value);
std::optional<queue_report> parse_report(const data_view& value);
std::optional<invitation> parse_invitation(const data_view& value);
std::optional<progress_report> parse_progress(const data_view& value);
std::optional<completion> parse_completion(const data_view& value);
std::optional<claim> parse_claim(const data_view& value);

// -- topics --------------------------------------------------------------------------------------

/// Where queues bound to an exchange of this name report themselves, and it claims the name.
std::string topic_of_exchange_name(std::string_view name);
/// Where exchanges bound to queues of this name invite them.
std::string topic_of_queue_name(std::string_view name);
/// Where one exchange hears reports; where one queue gets tasks.
std::string topic_of_exchange(const endpoint_id& id);
std::string topic_of_queue(const endpoint_id& id);
/// Where sources tell how far they are; of one of them.
std::string_view topic_of_progress() noexcept;
std::string topic_of_progress(const endpoint_id& source);

} // namespace pubsub::pattern
