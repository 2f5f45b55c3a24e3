// What clients and instances of a service say to each other, as values in bin::v1. Pure: values in,
// values out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/error.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/message_fields.hpp"
#include "pattern/mailbox/pattern_topic.hpp"

namespace pubsub::pattern {

/// To the instances of a name: a client looks for them.
struct service_hello {
  static constexpr std::uint64_t kind = 1;
  endpoint_id client;

  static auto fields(auto& x) { return std::tie(x.client); }
};

/// Names, and whether they are idempotent.
using offered_operations = std::map<std::string, bool, std::less<>>;

/// To the clients of a name, or one of them: an instance is there, and does this.
struct status_view {
  static constexpr std::uint64_t kind = 2;
  endpoint_id instance;
  bool leaving = false; ///< it takes nothing any more
  std::uint64_t workers = 1;
  data_view operations; ///< a vector: each name, and whether it is idempotent

  static auto fields(auto& x) { return std::tie(x.instance, x.leaving, x.workers, x.operations); }
  /// Nothing if they are malformed.
  std::optional<offered_operations> offered() const;
  bool adds_up() const { return offered().has_value(); }
};

/// What a client gives an instance it numbers by places, from 0 in each stream; a new stream begins
/// when the client had taken the instance for lost.
struct client_places {
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// To an instance: do these.
struct request_view {
  static constexpr std::uint64_t kind = 3;
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t first = 0;
  std::string operation;
  data_view arguments; ///< a vector

  static auto fields(auto& x) {
    return std::tie(x.client, x.stream, x.first, x.operation, x.arguments);
  }
  bool adds_up() const { return arguments.size() > 0 && first + arguments.size() >= first; }
  client_places places() const { return {client, stream, first, arguments.size()}; }
};

/// To a client: what became of the operations at these places, those of one stream.
struct reply_view {
  static constexpr std::uint64_t kind = 4;
  endpoint_id instance;
  std::uint64_t stream = 0;
  std::uint64_t here_ns = 0; ///< from the arrival of what is at the last place to this reply
  std::uint64_t busy_ns = 0; ///< in the handlers
  std::vector<sequence_range> places{};
  std::vector<sequence_range> failed{};  ///< indexes of results that are errors, ascending
  std::vector<sequence_range> untaken{}; ///< at most one; never begun, nor will be: ask another
  data_view results{};                   ///< a vector, as many as places

  static auto fields(auto& x) {
    return std::tie(x.instance, x.stream, x.here_ns, x.busy_ns, x.places, x.failed, x.untaken,
                    x.results);
  }
  bool adds_up() const;
};

/// To an instance: the client does not wait for this any more.
struct cancel_request {
  static constexpr std::uint64_t kind = 5;
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t place = 0;

  static auto fields(auto& x) { return std::tie(x.client, x.stream, x.place); }
};

/// Whole messages, as `write` writes those that have no values of others in them.
void write_status(data_writer& out, const endpoint_id& instance, bool leaving,
                  std::uint64_t workers, const offered_operations& operations);
/// As many arguments as places, one behind the other.
void write_request(data_writer& out, const client_places& at, std::string_view operation,
                   std::span<const std::byte> arguments);
/// So many results, one behind the other; those of `head` are left out.
void write_reply(data_writer& out, const reply_view& head, std::size_t count,
                 std::span<const std::byte> results);
/// A reply that only says that these places have not begun.
void write_untaken(data_writer& out, const endpoint_id& instance, const client_places& what);

/// An error as a result.
void write_error(data_writer& out, const error& x);
/// A code that is not known here, or that says there is no error, is an error all the same.
error read_error(const data_view& result);

// -- topics --------------------------------------------------------------------------------------

/// Where the instances of a name receive from clients; where its clients receive from instances.
inline std::string topic_of_service(std::string_view name) {
  return pattern_topic("remote", "service", name);
}
inline std::string topic_of_callers(std::string_view name) {
  return pattern_topic("remote", "callers", name);
}
/// Where one instance receives requests; where one client receives replies.
inline std::string topic_of_instance(const endpoint_id& id) {
  return pattern_topic("remote", "instance", to_string(id));
}
inline std::string topic_of_caller(const endpoint_id& id) {
  return pattern_topic("remote", "caller", to_string(id));
}

} // namespace pubsub::pattern
