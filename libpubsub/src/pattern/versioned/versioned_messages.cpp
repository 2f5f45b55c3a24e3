#include "pattern/versioned/versioned_messages.hpp"

#include "pattern/mailbox/field_reader.hpp"

namespace pubsub::pattern {

namespace {

// -- fields, written -----------------------------------------------------------------------------

void put(data_writer& out, std::uint64_t x) {
  out.write_count(x);
}

void put(data_writer& out, bool x) {
  out.write_boolean(x);
}

void put(data_writer& out, const std::string& x) {
  out.write_string(x);
}

void put(data_writer& out, const endpoint_id& x) {
  out.write_string({reinterpret_cast<const char*>(x.bytes().data()), x.bytes().size()});
}

void put(data_writer& out, const value_list& x) {
  out.begin_vector(x.count);
  out.write_encoded(x.bytes);
}

void put(data_writer& out, const message_version& x) {
  out.begin_vector(2);
  put(out, x.epoch);
  put(out, x.number);
}

void put(data_writer& out, const epoch_run& x) {
  out.begin_vector(2);
  put(out, x.first);
  put(out, x.epoch);
}

void put(data_writer& out, const stamped_run& x) {
  out.begin_vector(5);
  put(out, x.client_first);
  put(out, x.count);
  put(out, x.at.epoch);
  put(out, x.at.number);
  put(out, x.config);
}

template <class T>
void put(data_writer& out, const std::vector<T>& all);

void put(data_writer& out, const client_progress& x) {
  out.begin_vector(3);
  put(out, x.client);
  put(out, x.next);
  put(out, x.recent);
}

template <class T>
void put(data_writer& out, const std::vector<T>& all) {
  out.begin_vector(all.size());
  for (const auto& each : all)
    put(out, each);
}

// -- fields, read --------------------------------------------------------------------------------

bool take(field_reader& in, std::uint64_t& x) {
  return in.read(x);
}

bool take(field_reader& in, bool& x) {
  return in.read(x);
}

bool take(field_reader& in, std::string& x) {
  return in.read(x);
}

bool take(field_reader& in, endpoint_id& x) {
  return in.read(x);
}

bool take(field_reader& in, value_list& x) {
  data_view all;
  if (!in.read(all))
    return false;
  x.count = all.size();
  if (x.count == 0)
    return true;
  const auto whole = all.bytes();
  const auto* first = (*all.elements().begin()).bytes().data();
  x.bytes = whole.subspan(static_cast<std::size_t>(first - whole.data()));
  return true;
}

bool take(field_reader& in, message_version& x) {
  data_view all;
  if (!in.read(all))
    return false;
  field_reader parts{all};
  return parts.read(x.epoch) && parts.read(x.number) && parts.at_end();
}

bool take(field_reader& in, epoch_run& x) {
  data_view all;
  if (!in.read(all))
    return false;
  field_reader parts{all};
  return parts.read(x.first) && parts.read(x.epoch) && parts.at_end();
}

/// Numbers of a run do not overflow, and there is at least one.
bool take(field_reader& in, stamped_run& x) {
  data_view all;
  if (!in.read(all))
    return false;
  field_reader parts{all};
  return parts.read(x.client_first) && parts.read(x.count) && parts.read(x.at.epoch) &&
         parts.read(x.at.number) && parts.read(x.config) && parts.at_end() && x.count > 0 &&
         x.client_first + x.count > x.client_first && x.at.number + x.count > x.at.number;
}

template <class T>
bool take(field_reader& in, std::vector<T>& all);

bool take(field_reader& in, client_progress& x) {
  data_view all;
  if (!in.read(all))
    return false;
  field_reader parts{all};
  return parts.read(x.client) && parts.read(x.next) && take(parts, x.recent) && parts.at_end();
}

template <class T>
bool take(field_reader& in, std::vector<T>& all) {
  data_view members;
  if (!in.read(members))
    return false;
  field_reader parts{members};
  while (!parts.at_end())
    if (!take(parts, all.emplace_back()))
      return false;
  return true;
}

// -- what fields must say together ---------------------------------------------------------------

template <class Message>
bool makes_sense(const Message&) {
  return true;
}

/// Numbers that values get do not overflow.
bool fits(std::uint64_t first, std::uint64_t count) {
  return first > 0 && count > 0 && first + count > first;
}

bool makes_sense(const submit_message& x) {
  return fits(x.first, x.values.count);
}

bool makes_sense(const request_message& x) {
  constexpr std::uint64_t most = 1 << 20; // who asks for more has not sent it
  return fits(x.first, x.count) && x.count <= most;
}

bool makes_sense(const tagged_message& x) {
  return fits(x.first, x.values.count);
}

bool makes_sense(const plain_message& x) {
  return fits(x.first, x.values.count);
}

bool makes_sense(const record_message& x) {
  if (x.run.at.number == 0)
    return false;
  return x.client.is_nil() ? x.values.count == 0 : x.values.count == x.run.count;
}

bool makes_sense(const stamp_message& x) {
  return x.run.at.number > 0 && !x.client.is_nil();
}

bool makes_sense(const snapshot_message& x) {
  return x.at.number > 0 && x.state.count == 1;
}

bool makes_sense(const start_message& x) {
  std::uint64_t last = 0;
  for (const auto& each : x.runs) {
    if (each.first <= last || each.first > x.end)
      return false;
    last = each.first;
  }
  return x.commit <= x.end;
}

std::string topic(std::string_view kind, std::string_view name) {
  return "versioned/" + std::string{kind} + "/" + std::string{name} + "/";
}

} // namespace

std::uint64_t versioned_kind(const data_view& value) noexcept {
  field_reader in{value};
  std::uint64_t kind = 0;
  return in.read(kind) ? kind : 0;
}

template <class Message>
void write_message(data_writer& out, const Message& x) {
  std::apply(
      [&](const auto&... fields) {
        out.begin_vector(1 + sizeof...(fields));
        out.write_count(Message::kind);
        (put(out, fields), ...);
      },
      Message::fields(x));
}

template <class Message>
std::optional<Message> parse_message(const data_view& value) {
  field_reader in{value};
  Message result;
  std::uint64_t kind = 0;
  if (!in.read(kind) || kind != Message::kind)
    return {};
  const bool whole = std::apply([&](auto&... fields) { return (take(in, fields) && ...); },
                                Message::fields(result));
  if (!whole || !in.at_end() || !makes_sense(result))
    return {};
  return result;
}

#define PUBSUB_VERSIONED_MESSAGE(type)                                                             \
  template void write_message(data_writer&, const type&);                                          \
  template std::optional<type> parse_message(const data_view&);
PUBSUB_VERSIONED_MESSAGE(hello_message)
PUBSUB_VERSIONED_MESSAGE(status_message)
PUBSUB_VERSIONED_MESSAGE(submit_message)
PUBSUB_VERSIONED_MESSAGE(request_message)
PUBSUB_VERSIONED_MESSAGE(granted_message)
PUBSUB_VERSIONED_MESSAGE(record_message)
PUBSUB_VERSIONED_MESSAGE(stamp_message)
PUBSUB_VERSIONED_MESSAGE(tagged_message)
PUBSUB_VERSIONED_MESSAGE(plain_message)
PUBSUB_VERSIONED_MESSAGE(ack_message)
PUBSUB_VERSIONED_MESSAGE(done_message)
PUBSUB_VERSIONED_MESSAGE(held_message)
PUBSUB_VERSIONED_MESSAGE(commit_message)
PUBSUB_VERSIONED_MESSAGE(fetch_message)
PUBSUB_VERSIONED_MESSAGE(prepare_message)
PUBSUB_VERSIONED_MESSAGE(promise_message)
PUBSUB_VERSIONED_MESSAGE(start_message)
PUBSUB_VERSIONED_MESSAGE(snapshot_message)
PUBSUB_VERSIONED_MESSAGE(gone_message)
#undef PUBSUB_VERSIONED_MESSAGE

std::string topic_of_status(std::string_view group) {
  return topic("status", group);
}

std::string topic_of_replicas(std::string_view group) {
  return topic("replicas", group);
}

std::string topic_of_replica(const endpoint_id& id) {
  return topic("replica", to_string(id));
}

std::string topic_of_client(const endpoint_id& id) {
  return topic("client", to_string(id));
}

} // namespace pubsub::pattern
