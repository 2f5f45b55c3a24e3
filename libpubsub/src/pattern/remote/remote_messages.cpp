#include "pattern/remote/remote_messages.hpp"

#include <algorithm>

namespace pubsub::pattern {

std::optional<offered_operations> status_view::offered() const {
  offered_operations result;
  field_reader each{operations};
  for (std::string name; !each.at_end();)
    if (!each.read(name) || !each.read(result[name]))
      return {};
  return result;
}

bool reply_view::adds_up() const {
  std::uint64_t n = 0, end_of_failed = 0;
  for (const auto& each : places)
    n += std::min<std::uint64_t>(each.count, std::uint64_t{1} << 32); // more than a message holds
  for (const auto& [first, count] : failed) {
    if (first < end_of_failed)
      return false;
    end_of_failed = first + count;
  }
  return untaken.size() <= 1 && n == results.size() && end_of_failed <= n;
}

void write_status(data_writer& out, const endpoint_id& instance, bool leaving,
                  std::uint64_t workers, const offered_operations& operations) {
  out.begin_vector(5);
  out.write_count(status_view::kind);
  write_id(out, instance);
  out.write_boolean(leaving);
  out.write_count(workers);
  out.begin_vector(2 * operations.size());
  for (const auto& [name, idempotent] : operations) {
    out.write_string(name);
    out.write_boolean(idempotent);
  }
}

void write_request(data_writer& out, const client_places& at, std::string_view operation,
                   std::span<const std::byte> arguments) {
  out.begin_vector(6);
  out.write_count(request_view::kind);
  write_id(out, at.client);
  out.write_count(at.stream);
  out.write_count(at.first);
  out.write_string(operation);
  out.begin_vector(at.count);
  out.write_encoded(arguments);
}

void write_reply(data_writer& out, const reply_view& head, std::size_t count,
                 std::span<const std::byte> results) {
  out.begin_vector(9);
  out.write_count(reply_view::kind);
  write_id(out, head.instance);
  out.write_count(head.stream);
  out.write_count(head.here_ns);
  out.write_count(head.busy_ns);
  write_runs(out, head.places);
  write_runs(out, head.failed);
  write_runs(out, head.untaken);
  out.begin_vector(count);
  out.write_encoded(results);
}

void write_untaken(data_writer& out, const endpoint_id& instance, const client_places& what) {
  const sequence_range places{what.first, what.count};
  write_reply(out, {instance, what.stream, 0, 0, {}, {}, {places}}, 0, {});
}

void write_error(data_writer& out, const error& x) {
  out.begin_vector(2);
  out.write_count(static_cast<std::uint64_t>(x.code()));
  out.write_string(x.context());
}

error read_error(const data_view& result) {
  constexpr auto unknown = static_cast<errc>(255);
  std::uint64_t number = 0;
  std::string text;
  (void)field_reader{result}.read_all(number, text);
  const auto code = static_cast<errc>(std::min<std::uint64_t>(number, 255));
  const bool is_known = code != errc::none && to_string(code) != to_string(unknown);
  return {is_known ? code : errc::unspecified, std::move(text)};
}

} // namespace pubsub::pattern
