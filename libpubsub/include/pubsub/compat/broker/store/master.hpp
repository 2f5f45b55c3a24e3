// The master of one of Broker's stores: holds the entries, and decides the order of all changes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <pubsub/compat/broker/store/entries.hpp>
#include <pubsub/compat/broker/store/protocol.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// How often a master says that it is there.
inline constexpr std::chrono::milliseconds store_heartbeat{500};
/// A master or a clone that nothing was heard of for so long is not there.
inline constexpr std::chrono::seconds store_silence{3};
/// A clone may send again what was lost until then; later it is a new one.
inline constexpr std::chrono::hours forget_clone_after{1};
/// Clones that a master remembers; the one it has heard last of makes room for another.
inline constexpr std::size_t max_clones = 65'536;

/// All that a master does, without threads, locks, or a clock: what is to be sent comes out as
/// effects. One call at a time.
class store_master {
public:
  explicit store_master(const std::string& name) : topics_(name), id_(new_store_id()) {}

  const store_topics& topics() const noexcept { return topics_; }

  void ask(const store_query& query, store_answer to, store_time now, store_effects& out) const {
    out.answer(std::move(to), answer_of(entries_, query, now));
  }
  /// A command of this endpoint. `to`: is told of `put_unique` whether there was no such entry.
  void submit(const store_command& command, store_answer to, store_time now, store_effects& out) {
    const auto done = apply(command, now, out);
    out.answer(std::move(to), data{done});
  }
  /// A message that came on the topic of masters. What is no message of a clone is ignored.
  void receive(const data& message, store_time now, store_effects& out) {
    if (const auto* attach = message_of(message, "attach", 3))
      send_snapshot(*attach, now, out);
    else if (const auto* command = message_of(message, "command", 6))
      receive_command(*command, now, out);
    else if (const auto* applied = message_of(message, "applied", 4))
      receive_applied(*applied, now);
  }
  /// To be called after messages, and every tenth of a second.
  void tick(store_time now, store_effects& out) {
    expire(now, out);
    for (auto& [id, clone] : clones_)
      if (std::exchange(clone.to_be_acknowledged, false))
        out.send(topics_.clone(id),
                 vector{"ack", id_, clone.next_command - 1, update_, clone.results});
    std::erase_if(clones_,
                  [now](const auto& x) { return now - x.second.seen > forget_clone_after; });
    if (now >= next_heartbeat_)
      say_alive(now, out);
  }
  void say_alive(store_time now, store_effects& out) {
    next_heartbeat_ = now + store_heartbeat;
    out.send(topics_.clones, vector{"alive", id_, update_});
  }
  /// Whether all clones that are there hold every update.
  bool idle(store_time now) const {
    return std::all_of(clones_.begin(), clones_.end(), [&](const auto& x) {
      return now - x.second.seen > store_silence || x.second.applied == update_;
    });
  }

private:
  struct clone_state {
    store_time seen;
    count applied = 0;
    count next_command = 0; ///< 0: none has come yet
    bool to_be_acknowledged = false;
    table results; ///< of those commands that have one, until the clone has got them
  };

  /// Whether something was changed, or could be.
  bool apply(const store_command& x, store_time now, store_effects& out) {
    expire(now, out);
    const auto end = end_of(now, x.expiry);
    switch (x.action) {
    case store_action::put_unique:
      if (entries_.find(x.key, now) != nullptr)
        return false;
      [[fallthrough]];
    case store_action::put:
      entries_.put(x.key, x.value, end);
      break;
    case store_action::add:
      if (entries_.add(x.key, x.value, x.init, end) != ec::none)
        return false;
      break;
    case store_action::subtract:
      if (entries_.subtract(x.key, x.value, end) != ec::none)
        return false;
      break;
    case store_action::erase:
      if (!entries_.erase(x.key))
        return false;
      send_update(vector{"erase", id_, ++update_, x.key}, out);
      return true;
    case store_action::clear:
      entries_.clear();
      send_update(vector{"clear", id_, ++update_}, out);
      return true;
    }
    send_entry(x.key, now, out);
    return true;
  }
  void expire(store_time now, store_effects& out) {
    for (auto& key : entries_.expire(now))
      send_update(vector{"erase", id_, ++update_, std::move(key)}, out);
  }
  /// Tells the clones what an entry is now. One that is too large for a message they do not have;
  /// nor one that has ended at once.
  void send_entry(const data& key, store_time now, store_effects& out) {
    ++update_;
    if (clones_.empty())
      return;
    const auto* value = entries_.find(key, now);
    if (value != nullptr) {
      auto content = encoded(vector{"put", id_, update_, key, *value});
      if (content.size_bytes() <= max_entry_bytes) {
        out.messages.push_back({topics_.clones, std::move(content)});
        return;
      }
    }
    send_update(vector{"erase", id_, update_, key}, out);
  }
  /// No updates are needed before the first clone has attached: it begins with a snapshot.
  void send_update(const vector& update, store_effects& out) {
    if (!clones_.empty())
      out.send(topics_.clones, update);
  }

  void send_snapshot(const vector& message, store_time now, store_effects& out) {
    if (!is_store_id(message[1]) || !message[2].is_count())
      return;
    expire(now, out);
    seen(message[1], now);
    const auto topic = topics_.clone(std::string{message[1].to_string()});
    table part;
    std::size_t part_bytes = 0;
    count index = 0;
    const auto send_part = [&](bool last) {
      out.send(topic, vector{"snapshot", id_, update_, message[2], index++, last,
                             std::exchange(part, {})});
      part_bytes = 0;
    };
    entries_.for_each([&](const data& key, const data& value) {
      const auto bytes = encoded(key).size_bytes() + encoded(value).size_bytes();
      if (bytes > max_entry_bytes - 1024) // with what else is in the message of an update
        return;
      part.emplace(key, value);
      part_bytes += bytes;
      if (part_bytes >= snapshot_part_bytes)
        send_part(false);
    });
    send_part(true);
  }
  void receive_command(const vector& message, store_time now, store_effects& out) {
    if (!is_store_id(message[1]) || !is_mine(message[2]) || !message[3].is_count() ||
        !message[4].is_count() || message[3].to_count() == 0)
      return;
    const auto first = message[3].to_count();
    const auto number = message[4].to_count();
    auto& clone = seen(message[1], now);
    clone.next_command = std::max(clone.next_command, first);
    clone.results.erase(clone.results.begin(), clone.results.lower_bound(data{first}));
    clone.to_be_acknowledged = true;
    if (number != clone.next_command || number - first >= max_waiting_commands)
      return; // it has come before, or others before it were lost: the clone sends them again
    ++clone.next_command;
    if (const auto command = read_command(message[5])) {
      const auto done = apply(*command, now, out);
      if (command->action == store_action::put_unique)
        clone.results.emplace(number, done);
    }
  }
  void receive_applied(const vector& message, store_time now) {
    if (is_store_id(message[1]) && is_mine(message[2]) && message[3].is_count())
      seen(message[1], now).applied = message[3].to_count();
  }
  bool is_mine(const data& master) const { return master.is_string() && master.to_string() == id_; }

  clone_state& seen(const data& id, store_time now) {
    auto found = clones_.find(id.to_string());
    if (found == clones_.end()) {
      if (clones_.size() >= max_clones)
        clones_.erase(
            std::min_element(clones_.begin(), clones_.end(), [](const auto& x, const auto& y) {
              return x.second.seen < y.second.seen;
            }));
      found = clones_.emplace(id.to_string(), clone_state{}).first;
    }
    found->second.seen = now;
    return found->second;
  }

  store_topics topics_;
  std::string id_;
  store_entries entries_;
  count update_ = 0; ///< the number of the last one
  std::map<std::string, clone_state, std::less<>> clones_;
  store_time next_heartbeat_{};
};

} // namespace detail
} // namespace over_pubsub
} // namespace broker
