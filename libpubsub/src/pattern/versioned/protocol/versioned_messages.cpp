#include "pattern/versioned/protocol/versioned_messages.hpp"

#include <type_traits>
#include <utility>

#include "pattern/mailbox/field_reader.hpp"
#include "pattern/mailbox/field_writer.hpp"
#include "pattern/mailbox/pattern_topic.hpp"

namespace pubsub::pattern {

namespace {

// -- fields --------------------------------------------------------------------------------------

auto fields_of(auto& x) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, message_version>)
    return std::tie(x.epoch, x.number);
  else
    return std::remove_cvref_t<decltype(x)>::fields(x);
}

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
void put(data_writer& out, const T& x) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    out.write_count(x);
  } else if constexpr (std::is_same_v<T, bool>) {
    out.write_boolean(x);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.write_string(x);
  } else if constexpr (std::is_same_v<T, endpoint_id>) {
    write_id(out, x);
  } else if constexpr (std::is_same_v<T, value_list>) {
    out.begin_vector(x.count);
    out.write_encoded(x.bytes);
  } else if constexpr (is_vector<T>) {
    out.begin_vector(x.size());
    for (const auto& each : x)
      put(out, each);
  } else {
    std::apply(
        [&](const auto&... fields) {
          out.begin_vector(sizeof...(fields));
          (put(out, fields), ...);
        },
        fields_of(x));
  }
}

/// What the types of the fields do not say.
template <class T>
bool makes_sense(const T& x);

template <class T>
bool take(field_reader& in, T& x);

template <class T>
bool take_fields(field_reader& in, T& x) {
  return std::apply([&](auto&... fields) { return (take(in, fields) && ...); }, fields_of(x)) &&
         in.at_end() && makes_sense(x);
}

template <class T>
bool take(field_reader& in, T& x) {
  if constexpr (requires { in.read(x); }) {
    return in.read(x);
  } else {
    data_view all;
    if (!in.read(all))
      return false;
    if constexpr (std::is_same_v<T, value_list>) {
      x.count = all.size();
      if (x.count > 0) {
        const auto whole = all.bytes();
        const auto* first = (*all.elements().begin()).bytes().data();
        x.bytes = whole.subspan(static_cast<std::size_t>(first - whole.data()));
      }
      return true;
    } else if constexpr (is_vector<T>) {
      field_reader members{all};
      while (!members.at_end())
        if (!take(members, x.emplace_back()))
          return false;
      return true;
    } else {
      field_reader parts{all};
      return take_fields(parts, x);
    }
  }
}

/// There is at least one number, and numbers do not overflow.
bool fits(std::uint64_t first, std::uint64_t count) {
  return count > 0 && first + count > first;
}

template <class T>
bool makes_sense(const T& x) {
  if constexpr (std::is_same_v<T, version_run>) {
    return fits(x.client_first, x.count) && fits(x.at.number, x.count);
  } else if constexpr (std::is_same_v<T, request_message>) {
    constexpr std::uint64_t most = 1 << 20; // a client sends less at once
    return x.first > 0 && fits(x.first, x.count) && x.count <= most;
  } else if constexpr (requires { x.values.count + x.first; }) {
    return x.first > 0 && fits(x.first, x.values.count);
  } else if constexpr (std::is_same_v<T, record_message>) {
    return x.run.at.number > 0 && x.values.count == (x.client.is_nil() ? 0 : x.run.count);
  } else if constexpr (std::is_same_v<T, versions_message>) {
    return x.run.at.number > 0 && !x.client.is_nil();
  } else if constexpr (std::is_same_v<T, snapshot_message>) {
    return x.at.number > 0 && x.state.count == 1;
  } else if constexpr (std::is_same_v<T, start_message>) {
    std::uint64_t last = 0;
    for (const auto& each : x.runs)
      if (each.first <= std::exchange(last, each.first) || each.first > x.end)
        return false;
    return x.commit <= x.end;
  } else {
    return true;
  }
}

// -- messages ------------------------------------------------------------------------------------

template <std::size_t I = 0>
std::optional<group_message> parse_kind(std::uint64_t kind, field_reader& in) {
  if constexpr (I < std::variant_size_v<group_message>) {
    if (kind != I + 1)
      return parse_kind<I + 1>(kind, in);
    std::optional<group_message> result{std::in_place, std::in_place_index<I>};
    if (take_fields(in, std::get<I>(*result)))
      return result;
  }
  return {};
}

std::string topic(std::string_view kind, std::string_view name) {
  return pattern_topic("versioned", kind, name);
}

} // namespace

void write_message(data_writer& out, const group_message& x) {
  const auto write = [&](const auto&... fields) {
    out.begin_vector(1 + sizeof...(fields));
    out.write_count(x.index() + 1);
    (put(out, fields), ...);
  };
  std::visit([&](const auto& message) { std::apply(write, fields_of(message)); }, x);
}

std::optional<group_message> parse_message(const data_view& value) {
  field_reader in{value};
  std::uint64_t kind = 0;
  return in.read(kind) ? parse_kind(kind, in) : std::nullopt;
}

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
