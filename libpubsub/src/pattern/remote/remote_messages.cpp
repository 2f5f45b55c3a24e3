#include "pattern/remote/remote_messages.hpp"

#include <algorithm>

#include "pattern/mailbox/field_reader.hpp"
#include "pattern/mailbox/field_writer.hpp"

namespace pubsub::pattern {

namespace {

constexpr std::uint64_t last_kind = 5;

void begin(data_writer& out, remote_message kind, std::size_t fields) {
  out.begin_vector(1 + fields);
  out.write_count(static_cast<std::uint64_t>(kind));
}

bool begins(field_reader& in, remote_message wanted) {
  std::uint64_t kind = 0;
  return in.read(kind) && kind == static_cast<std::uint64_t>(wanted);
}

std::string topic(std::string_view kind, std::string_view name) {
  return "remote/" + std::string{kind} + "/" + std::string{name} + "/";
}

bool read_operations(field_reader& in, std::vector<offered_operation>& out) {
  data_view all;
  if (!in.read(all) || all.size() % 2 != 0)
    return false;
  field_reader each{all};
  for (offered_operation one; !each.at_end(); out.push_back(one))
    if (!each.read(one.name) || !each.read(one.idempotent))
      return false;
  return true;
}

/// A code that we do not know says nothing; one that says nothing is an error all the same.
errc code_of(std::uint64_t number) noexcept {
  const bool known = number > 0 && number <= 255 &&
                     to_string(static_cast<errc>(number)) != to_string(static_cast<errc>(255));
  return known ? static_cast<errc>(number) : errc::unspecified;
}

bool read_failures(field_reader& in, std::vector<failed_operation>& out) {
  data_view all;
  if (!in.read(all) || all.size() % 3 != 0)
    return false;
  field_reader each{all};
  while (!each.at_end()) {
    std::uint64_t index = 0, code = 0;
    std::string text;
    if (!each.read(index) || !each.read(code) || !each.read(text))
      return false;
    if (!out.empty() && index <= out.back().index)
      return false;
    out.push_back({index, {code_of(code), std::move(text)}});
  }
  return true;
}

/// Each behind the one before: who follows them passes over each number once.
bool ascend(const std::vector<number_run>& runs) {
  return std::ranges::adjacent_find(runs, [](const auto& x, const auto& y) {
           return y.first < x.first + x.count;
         }) == runs.end();
}

/// How many, as far as a message can hold them.
std::uint64_t total(const std::vector<number_run>& runs) {
  std::uint64_t result = 0;
  for (const auto& each : runs)
    result += std::min<std::uint64_t>(each.count, std::uint64_t{1} << 32);
  return result;
}

} // namespace

void write_hello(data_writer& out, const service_hello& x) {
  begin(out, remote_message::hello, 1);
  write_id(out, x.client);
}

void write_status(data_writer& out, const service_status& x) {
  begin(out, remote_message::status, 4);
  write_id(out, x.instance);
  out.write_boolean(x.leaving);
  out.write_count(x.workers);
  out.begin_vector(2 * x.operations.size());
  for (const auto& each : x.operations) {
    out.write_string(each.name);
    out.write_boolean(each.idempotent);
  }
}

void write_request(data_writer& out, const request_place& at, std::string_view operation,
                   std::size_t count, std::span<const std::byte> arguments) {
  begin(out, remote_message::request, 5);
  write_id(out, at.client);
  out.write_count(at.stream);
  out.write_count(at.first);
  out.write_string(operation);
  out.begin_vector(count);
  out.write_encoded(arguments);
}

void write_reply(data_writer& out, const reply_head& head, std::size_t count,
                 std::span<const std::byte> results) {
  begin(out, remote_message::reply, 8);
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

void write_cancel(data_writer& out, const cancel_request& x) {
  begin(out, remote_message::cancel, 3);
  write_id(out, x.client);
  out.write_count(x.stream);
  write_runs(out, x.places);
}

std::optional<remote_message> remote_kind(const data_view& value) noexcept {
  field_reader in{value};
  std::uint64_t kind = 0;
  if (!in.read(kind) || kind < 1 || kind > last_kind)
    return {};
  return static_cast<remote_message>(kind);
}

std::optional<service_hello> parse_hello(const data_view& value) {
  field_reader in{value};
  service_hello result;
  if (!begins(in, remote_message::hello) || !in.read(result.client) || !in.at_end())
    return {};
  return result;
}

std::optional<service_status> parse_status(const data_view& value) {
  field_reader in{value};
  service_status result;
  if (!begins(in, remote_message::status) || !in.read(result.instance) ||
      !in.read(result.leaving) || !in.read(result.workers) ||
      !read_operations(in, result.operations) || !in.at_end())
    return {};
  return result;
}

std::optional<request_view> parse_request(const data_view& value) {
  field_reader in{value};
  request_view result;
  if (!begins(in, remote_message::request) || !in.read(result.at.client) ||
      !in.read(result.at.stream) || !in.read(result.at.first) || !in.read(result.operation) ||
      !in.read(result.arguments) || !in.at_end())
    return {};
  const auto size = result.arguments.size();
  if (size == 0 || result.at.first + size < result.at.first)
    return {};
  return result;
}

std::optional<reply_view> parse_reply(const data_view& value) {
  field_reader in{value};
  reply_view result;
  auto& head = result.head;
  if (!begins(in, remote_message::reply) || !in.read(head.instance) || !in.read(head.stream) ||
      !in.read(head.here_ns) || !in.read(head.busy_ns) || !in.read(head.places) ||
      !read_failures(in, head.failed) || !in.read(head.untaken) || !in.read(result.results) ||
      !in.at_end())
    return {};
  const auto size = result.results.size();
  if (!ascend(head.untaken) || total(head.places) != size ||
      (!head.failed.empty() && head.failed.back().index >= size))
    return {};
  return result;
}

std::optional<cancel_request> parse_cancel(const data_view& value) {
  field_reader in{value};
  cancel_request result;
  if (!begins(in, remote_message::cancel) || !in.read(result.client) || !in.read(result.stream) ||
      !in.read(result.places) || !in.at_end() || !ascend(result.places))
    return {};
  return result;
}

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
