// What clients and instances of a service say to each other, as values in bin::v1. Pure: values in,
// values out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
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

struct offered_operation {
  std::string name;
  bool idempotent = false;

  static auto fields(auto& x) { return std::tie(x.name, x.idempotent); }
};

/// To the clients of a name, or one of them: an instance is there, and does this.
struct service_status {
  static constexpr std::uint64_t kind = 2;
  endpoint_id instance;
  bool leaving = false; ///< it takes nothing any more
  std::uint64_t workers = 1;
  std::vector<offered_operation> operations{};

  static auto fields(auto& x) { return std::tie(x.instance, x.leaving, x.workers, x.operations); }
};

/// What a client gives an instance it numbers by places, from 0 in each stream; a new stream begins
/// when the client had taken the instance for lost.
struct client_places {
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// To an instance: do these. `Values`: value_list to write it, data_view to read it.
template <class Values>
struct service_request {
  static constexpr std::uint64_t kind = 3;
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t first = 0;
  std::string operation;
  Values arguments;

  static auto fields(auto& x) {
    return std::tie(x.client, x.stream, x.first, x.operation, x.arguments);
  }
  bool adds_up() const { return arguments.size() > 0 && first + arguments.size() >= first; }
  client_places places() const { return {client, stream, first, arguments.size()}; }
};
using request_view = service_request<data_view>;

/// To a client: what became of the operations at these places, those of one stream. `Values` as of
/// a request.
template <class Values>
struct service_reply {
  static constexpr std::uint64_t kind = 4;
  endpoint_id instance;
  std::uint64_t stream = 0;
  std::uint64_t here_ns = 0; ///< from the arrival of what is at the last place to this reply
  std::uint64_t busy_ns = 0; ///< in the handlers
  std::vector<sequence_range> places{};
  std::vector<sequence_range> failed{};  ///< indexes of results that are errors, ascending
  std::vector<sequence_range> untaken{}; ///< at most one; never begun, nor will be: ask another
  Values results{};                      ///< as many as places

  static auto fields(auto& x) {
    return std::tie(x.instance, x.stream, x.here_ns, x.busy_ns, x.places, x.failed, x.untaken,
                    x.results);
  }
  bool adds_up() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 32; // more than a message holds
    std::uint64_t n = 0, end_of_failed = 0;
    for (const auto& each : places)
      n += std::min(each.count, most);
    for (const auto& each : failed)
      if (each.first < std::exchange(end_of_failed, each.first + each.count))
        return false;
    return untaken.size() <= 1 && n == results.size() && end_of_failed <= n;
  }
};
using reply_view = service_reply<data_view>;

/// To an instance: the client does not wait for this any more.
struct cancel_request {
  static constexpr std::uint64_t kind = 5;
  endpoint_id client;
  std::uint64_t stream = 0;
  std::uint64_t place = 0;

  static auto fields(auto& x) { return std::tie(x.client, x.stream, x.place); }
};

/// An error as a result.
struct failed_result {
  std::uint64_t code = 0;
  std::string text;

  static auto fields(auto& x) { return std::tie(x.code, x.text); }
};
inline void write_error(data_writer& out, const error& x) {
  write_field(out, failed_result{static_cast<std::uint64_t>(x.code()), x.context()});
}
/// A code that is not known here, or that says there is no error, is an error all the same.
inline error read_error(const data_view& result) {
  constexpr auto unknown = static_cast<errc>(255);
  failed_result x;
  (void)field_reader{result}.read_fields(x);
  const auto code = static_cast<errc>(std::min<std::uint64_t>(x.code, 255));
  const bool is_known = code != errc::none && to_string(code) != to_string(unknown);
  return {is_known ? code : errc::unspecified, std::move(x.text)};
}
/// `what`: an argument, a request or a result.
inline error too_long(std::string_view what, std::size_t size_bytes, const std::string& limit) {
  return {errc::limit_exceeded, std::string{what} + " of " + std::to_string(size_bytes) +
                                    " bytes is longer than " + limit};
}

// -- topics --------------------------------------------------------------------------------------

/// Where the instances of a name receive from clients; where its clients receive from instances.
inline constexpr topic_kind topic_of_service{"remote/service"};
inline constexpr topic_kind topic_of_callers{"remote/callers"};
/// Where one instance receives requests; where one client receives replies.
inline constexpr topic_kind topic_of_instance{"remote/instance"};
inline constexpr topic_kind topic_of_caller{"remote/caller"};

} // namespace pubsub::pattern
