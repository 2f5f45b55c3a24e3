#include "pattern/remote/remote_messages.hpp"

#include <algorithm>
#include <functional>

#include "pattern/mailbox/field_reader.hpp"
#include "pattern/mailbox/field_writer.hpp"
#include "pattern/mailbox/pattern_topic.hpp"

namespace pubsub::pattern {

namespace {

/// The first field of each message.
enum class kind : std::uint64_t { hello = 1, status = 2, request = 3, reply = 4, cancel = 5 };

void begin(data_writer& out, kind what, std::size_t fields) {
  out.begin_vector(1 + fields);
  out.write_count(static_cast<std::uint64_t>(what));
}

/// A code that is not known here, or that says there is no error, is an error all the same.
errc code_of(std::uint64_t number) noexcept {
  constexpr auto unknown = static_cast<errc>(255);
  const auto code = static_cast<errc>(std::min<std::uint64_t>(number, 255));
  return code == errc::none || to_string(code) == to_string(unknown) ? errc::unspecified : code;
}

template <class T>
bool read(field_reader& in, T& x) {
  return in.read(x);
}
bool read(field_reader& in, offered_operations& x) {
  data_view all;
  if (!in.read(all))
    return false;
  field_reader each{all};
  for (std::string name; !each.at_end();)
    if (!each.read(name) || !each.read(x[name]))
      return false;
  return true;
}
bool read(field_reader& in, std::vector<failed_operation>& x) {
  data_view all;
  if (!in.read(all))
    return false;
  field_reader each{all};
  while (!each.at_end()) {
    std::uint64_t index = 0, code = 0;
    std::string text;
    if (!each.read(index) || !each.read(code) || !each.read(text))
      return false;
    x.push_back({index, {code_of(code), std::move(text)}});
  }
  return std::ranges::adjacent_find(x, std::greater_equal{}, &failed_operation::index) == x.end();
}

template <class... Fields>
bool read_message(const data_view& value, kind what, Fields&... fields) {
  field_reader in{value};
  std::uint64_t number = 0;
  return in.read(number) && number == static_cast<std::uint64_t>(what) &&
         (read(in, fields) && ...) && in.at_end();
}

/// How many, as far as a message can hold them.
std::uint64_t total(const std::vector<sequence_range>& runs) {
  std::uint64_t result = 0;
  for (const auto& each : runs)
    result += std::min<std::uint64_t>(each.count, std::uint64_t{1} << 32);
  return result;
}

std::string topic(std::string_view kind, std::string_view name) {
  return pattern_topic("remote", kind, name);
}

} // namespace

// -- messages ------------------------------------------------------------------------------------

void write_hello(data_writer& out, const service_hello& x) {
  begin(out, kind::hello, 1);
  write_id(out, x.client);
}

std::optional<service_hello> parse_hello(const data_view& value) {
  service_hello x;
  return read_message(value, kind::hello, x.client) ? std::optional{x} : std::nullopt;
}

void write_status(data_writer& out, const service_status& x) {
  begin(out, kind::status, 4);
  write_id(out, x.instance);
  out.write_boolean(x.leaving);
  out.write_count(x.workers);
  out.begin_vector(2 * x.operations.size());
  for (const auto& [name, idempotent] : x.operations) {
    out.write_string(name);
    out.write_boolean(idempotent);
  }
}

std::optional<service_status> parse_status(const data_view& value) {
  service_status x;
  return read_message(value, kind::status, x.instance, x.leaving, x.workers, x.operations)
             ? std::optional{x}
             : std::nullopt;
}

void write_request(data_writer& out, const request_place& at, std::string_view operation,
                   std::size_t count, std::span<const std::byte> arguments) {
  begin(out, kind::request, 5);
  write_id(out, at.client);
  out.write_count(at.stream);
  out.write_count(at.first);
  out.write_string(operation);
  out.begin_vector(count);
  out.write_encoded(arguments);
}

std::optional<request_view> parse_request(const data_view& value) {
  request_view x;
  if (!read_message(value, kind::request, x.at.client, x.at.stream, x.at.first, x.operation,
                    x.arguments))
    return {};
  const auto size = x.arguments.size();
  if (size == 0 || x.at.first + size < x.at.first)
    return {};
  return x;
}

void write_reply(data_writer& out, const reply_head& head, std::size_t count,
                 std::span<const std::byte> results) {
  begin(out, kind::reply, 8);
  write_id(out, head.instance);
  out.write_count(head.stream);
  out.write_count(head.here_ns);
  out.write_count(head.busy_ns);
  write_runs(out, head.places);
  out.begin_vector(3 * head.failed.size());
  for (const auto& each : head.failed) {
    out.write_count(each.index);
    out.write_count(static_cast<std::uint64_t>(each.error.code()));
    out.write_string(each.error.context());
  }
  write_runs(out, head.untaken);
  out.begin_vector(count);
  out.write_encoded(results);
}

std::optional<reply_view> parse_reply(const data_view& value) {
  reply_view x;
  auto& head = x.head;
  if (!read_message(value, kind::reply, head.instance, head.stream, head.here_ns, head.busy_ns,
                    head.places, head.failed, head.untaken, x.results))
    return {};
  const auto size = x.results.size();
  if (head.untaken.size() > 1 || total(head.places) != size ||
      (!head.failed.empty() && head.failed.back().index >= size))
    return {};
  return x;
}

void write_untaken(data_writer& out, const endpoint_id& instance, std::uint64_t stream,
                   const sequence_range& places) {
  write_reply(out, {instance, stream, 0, 0, {}, {}, {places}}, 0, {});
}

void write_cancel(data_writer& out, const cancel_request& x) {
  begin(out, kind::cancel, 3);
  write_id(out, x.client);
  out.write_count(x.stream);
  write_runs(out, {{x.place, 1}});
}

std::optional<cancel_request> parse_cancel(const data_view& value) {
  cancel_request x;
  std::vector<sequence_range> places;
  if (!read_message(value, kind::cancel, x.client, x.stream, places) || places.size() != 1)
    return {};
  x.place = places.front().first;
  return x;
}

// -- topics --------------------------------------------------------------------------------------

std::string topic_of_service(std::string_view name) {
  return topic("service", name);
}

std::string topic_of_callers(std::string_view name) {
  return topic("callers", name);
}

std::string topic_of_instance(const endpoint_id& id) {
  return topic("instance", to_string(id));
}

std::string topic_of_caller(const endpoint_id& id) {
  return topic("caller", to_string(id));
}

} // namespace pubsub::pattern
