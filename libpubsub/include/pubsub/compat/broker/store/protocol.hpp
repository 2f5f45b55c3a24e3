// What a master and the clones of one of Broker's stores tell each other, over topics of the
// network.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/encoding.hpp>
#include <pubsub/compat/broker/error.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// The topics of one store. Each ends with what no name can continue, so that a store whose name
/// another's begins with is not meant; receivers compare whole topics besides.
///
/// All messages are vectors that begin with a name. To the master:
///
/// * `("attach", clone, number)`: send me a snapshot with this number.
/// * `("command", clone, master, first, number, command)`: commands of a clone are numbered; it
///   does not wait for those before `first` any more.
/// * `("applied", clone, master, number)`: the clone is there, and holds all up to this update.
///
/// To all clones; updates are numbered from 1:
///
/// * `("put", master, number, key, value)`, `("erase", master, number, key)`,
///   `("clear", master, number)`.
/// * `("alive", master, number)`: the master is there, and this was its last update.
///
/// To one clone:
///
/// * `("snapshot", master, update, number, index, last, table)`: a part of what the store held
///   after this update, for the question with this number.
/// * `("ack", master, command, update, table)`: the master is done with the commands up to this
///   one, and was at this update then; the table has the results of those that have one.
///
/// Masters and clones are named by a UUID, made anew with each of them.
struct store_topics {
  explicit store_topics(const std::string& store)
      : master("libpubsub/store/" + store + "/<master>"),
        clones("libpubsub/store/" + store + "/<clones>"),
        clone_prefix("libpubsub/store/" + store + "/<clone>/") {}

  std::string clone(const std::string& id) const { return clone_prefix + id; }

  std::string master;
  std::string clones;
  std::string clone_prefix;
};

/// The numbers are those on the wire.
enum class store_action : std::uint8_t { put, put_unique, erase, clear, add, subtract };

/// A change of a store that is asked for.
struct store_command {
  store_action action = store_action::put;
  data key;
  data value;
  data::type init = data::type::none; ///< of `add`: what is added to where there is no entry
  std::optional<timespan> expiry;
};

inline data as_data(const std::optional<timespan>& x) {
  return x ? data{*x} : data{};
}

inline data as_data(const store_command& x) {
  return vector{static_cast<count>(x.action), x.key, x.value, static_cast<count>(x.init),
                as_data(x.expiry)};
}

/// Nothing if it is no command.
inline std::optional<store_command> read_command(const data& x) {
  const auto& fields = x.to_list();
  if (fields.size() != 5 || !fields[0].is_count() || !fields[3].is_count() ||
      !(fields[4].is_timespan() || fields[4].is_none()) ||
      fields[0].to_count() > static_cast<count>(store_action::subtract) ||
      fields[3].to_count() > static_cast<count>(data::type::vector))
    return std::nullopt;
  store_command result{static_cast<store_action>(fields[0].to_count()), fields[1], fields[2],
                       static_cast<data::type>(fields[3].to_count()), std::nullopt};
  if (fields[4].is_timespan())
    result.expiry = fields[4].to_timespan();
  return result;
}

/// A key and a value of more bytes than that are in no message.
inline constexpr std::size_t max_entry_bytes = std::size_t{32} << 20;
/// A part of a snapshot is closed once it has so many bytes.
inline constexpr std::size_t snapshot_part_bytes = std::size_t{1} << 20;

/// Commands of a clone that its master has not acknowledged, at most, and their bytes.
inline constexpr std::size_t max_waiting_commands = 65'536;
inline constexpr std::size_t max_waiting_bytes = std::size_t{64} << 20;

/// A message that is to be sent, already encoded.
struct store_message {
  std::string topic;
  pubsub::data_writer content;
};

using store_answer = std::function<void(expected<data>)>;

/// What is left to be done once no lock is held: messages to send, in this order, and answers to
/// give.
struct store_effects {
  std::vector<store_message> messages;
  std::vector<std::function<void()>> calls;

  bool empty() const noexcept { return messages.empty() && calls.empty(); }
  void send(const std::string& topic, const vector& content) {
    messages.push_back({topic, encoded(content)});
  }
  void answer(store_answer to, expected<data> with) {
    if (to)
      calls.push_back([to = std::move(to), with = std::move(with)] { to(with); });
  }
};

/// The fields of a message that begins with this name, and has so many in all; otherwise null.
inline const vector* message_of(const data& x, std::string_view name, std::size_t size) {
  const auto* fields = get_if<vector>(x);
  return fields != nullptr && fields->size() == size && (*fields)[0].is_string() &&
                 (*fields)[0].to_string() == name
             ? fields
             : nullptr;
}

inline std::string new_store_id() {
  return pubsub::to_string(pubsub::endpoint_id::random());
}
inline bool is_store_id(const data& x) {
  return x.is_string() && pubsub::endpoint_id::parse(x.to_string()).has_value();
}

} // namespace detail
} // namespace over_pubsub
} // namespace broker
