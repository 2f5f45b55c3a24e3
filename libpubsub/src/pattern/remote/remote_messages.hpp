// What clients and instances of a service say to each other, as values in bin::v1. Pure: values in,
// values out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/error.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/sequence_ranges.hpp"

namespace pubsub::pattern {

/// To the instances of a name: a client looks for them.
struct service_hello {
  endpoint_id client;
};

/// Names, and whether they are idempotent.
using offered_operations = std::map<std::string, bool, std::less<>>;

/// To the clients of a name, or one of them: an instance is there, and does this.
struct service_status {
  endpoint_id instance;
  bool leaving = false; ///< it takes nothing any more
  std::uint64_t workers = 1;
  offered_operations operations;
};

/// To an instance: do these. A client numbers what it gives an instance by places, from 0 in each
/// stream; a new stream begins when the client had taken the instance for lost.
struct request_place {
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t first = 0;
};
struct request_view {
  request_place at;
  std::string operation;
  data_view arguments; ///< a vector
};

/// To a client: what became of the operations at these places, those of one stream.
struct failed_operation {
  std::uint64_t index = 0; ///< among the results
  pubsub::error error;
};
struct reply_head {
  endpoint_id instance;
  std::uint64_t stream = 0;
  std::uint64_t here_ns = 0; ///< from the arrival of what is at the last place to this reply
  std::uint64_t busy_ns = 0; ///< in the handlers
  std::vector<sequence_range> places;
  std::vector<failed_operation> failed; ///< by index; their results are none
  std::vector<sequence_range> untaken;  ///< at most one; never begun, nor will be: ask another
};
struct reply_view {
  reply_head head;
  data_view results; ///< a vector, as many as places
};

/// To an instance: the client does not wait for this any more.
struct cancel_request {
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t place = 0;
};

/// Whole values. Arguments and results are one behind the other.
void write_hello(data_writer& out, const service_hello& x);
void write_status(data_writer& out, const service_status& x);
void write_request(data_writer& out, const request_place& at, std::string_view operation,
                   std::size_t count, std::span<const std::byte> arguments);
void write_reply(data_writer& out, const reply_head& head, std::size_t count,
                 std::span<const std::byte> results);
/// A reply that only says that these places have not begun.
void write_untaken(data_writer& out, const endpoint_id& instance, std::uint64_t stream,
                   const sequence_range& places);
void write_cancel(data_writer& out, const cancel_request& x);

/// Nothing if the value is another message, or malformed.
std::optional<service_hello> parse_hello(const data_view& value);
std::optional<service_status> parse_status(const data_view& value);
std::optional<request_view> parse_request(const data_view& value);
std::optional<reply_view> parse_reply(const data_view& value);
std::optional<cancel_request> parse_cancel(const data_view& value);

// -- topics --------------------------------------------------------------------------------------

/// Where the instances of a name receive from clients; where its clients receive from instances.
std::string topic_of_service(std::string_view name);
std::string topic_of_callers(std::string_view name);
/// Where one instance receives requests; where one client receives replies.
std::string topic_of_instance(const endpoint_id& id);
std::string topic_of_caller(const endpoint_id& id);

} // namespace pubsub::pattern
