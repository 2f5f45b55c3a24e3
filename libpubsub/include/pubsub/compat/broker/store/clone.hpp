// A clone of one of Broker's stores: a copy of what its master holds, and commands for it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/store/entries.hpp>
#include <pubsub/compat/broker/store/master.hpp>
#include <pubsub/compat/broker/store/protocol.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// What `endpoint::attach_clone` was told.
struct clone_options {
  timespan resync{};     ///< between questions for a snapshot while there is no master
  timespan stale{};      ///< without a master, until what is asked for is an error; < 0: never
  timespan buffer_for{}; ///< without a master, until a command is given up; <= 0: at once
};

/// How long a question waits for the first snapshot.
inline constexpr std::chrono::seconds first_snapshot_wait{5};
/// A snapshot that has not come by then is asked for again.
inline constexpr timespan snapshot_wait = std::chrono::seconds{1};
/// Commands are sent again if none was acknowledged for so long.
inline constexpr std::chrono::milliseconds acknowledgement_wait{500};
/// Commands that are under way at a time, at most: a part of what the queue of a link holds.
inline constexpr std::size_t max_sent_commands = 4096;

/// A snapshot that was asked for, and what has come of it.
struct snapshot_question {
  count number = 0;
  std::string master; ///< of the first part that came
  count update = 0;
  count parts = 0;
  store_entries entries;
};

/// All that a clone does, without threads, locks, or a clock: what is to be sent comes out as
/// effects. One call at a time.
class store_clone {
public:
  store_clone(const std::string& name, clone_options options, store_time now, store_effects& out)
      : topics_(name), options_(options), heard_(now), disconnected_(now) {
    ask_for_snapshot(now, out);
  }

  const store_topics& topics() const noexcept { return topics_; }
  std::string own_topic() const { return topics_.clone(id_); }

  /// `to` is told at once, or as soon as there is a snapshot, or that there was none in time.
  void ask(store_query query, store_answer to, store_time now, store_effects& out) {
    if (!synchronized_)
      questions_.push_back({std::move(query), std::move(to), now + first_snapshot_wait});
    else if (is_stale(now))
      out.answer(std::move(to), ec::stale_data);
    else
      out.answer(std::move(to), answer_of(entries_, query, now));
  }
  /// Whether `submit` may be called.
  bool has_room() const noexcept {
    return waiting_.size() < max_waiting_commands && waiting_bytes_ < max_waiting_bytes;
  }
  /// `to`: is told what comes of `put_unique`.
  void submit(const store_command& command, store_answer to, store_time now, store_effects& out) {
    auto encoded_command = encoded(as_data(command));
    if (encoded_command.size_bytes() > max_entry_bytes)
      return out.answer(std::move(to), ec::invalid_data);
    if (waiting_.empty())
      progress_ = now;
    waiting_bytes_ += encoded_command.size_bytes();
    waiting_.push_back({std::move(encoded_command), std::move(to), now});
    send_commands(out);
    give_up_commands(now, out);
  }
  /// A message that came on one of its topics. What is no message of a master is ignored.
  void receive(const data& message, store_time now, store_effects& out) {
    if (const auto* put = message_of(message, "put", 5))
      receive_update(*put, now, out);
    else if (const auto* erased = message_of(message, "erase", 4))
      receive_update(*erased, now, out);
    else if (const auto* cleared = message_of(message, "clear", 3))
      receive_update(*cleared, now, out);
    else if (const auto* alive = message_of(message, "alive", 3))
      receive_alive(*alive, now, out);
    else if (const auto* part = message_of(message, "snapshot", 7))
      receive_snapshot(*part, now, out);
    else if (const auto* done = message_of(message, "ack", 5))
      receive_acknowledgement(*done, now, out);
  }
  /// To be called every tenth of a second.
  void tick(store_time now, store_effects& out) {
    if (connected_ && now - heard_ > store_silence) {
      connected_ = false;
      disconnected_ = now;
      sent_ = 0;
    }
    // One that has lost its master is told when it is back, and need not ask as often.
    const auto pause =
        connected_ || !synchronized_ ? snapshot_wait : std::max(options_.resync, snapshot_wait);
    if ((question_ || !connected_) && now - asked_ > pause)
      ask_for_snapshot(now, out);
    if (sent_ > 0 && now - progress_ > acknowledgement_wait) {
      sent_ = 0;
      progress_ = now;
    }
    send_commands(out);
    give_up_commands(now, out);
    while (!questions_.empty() && questions_.front().until <= now) {
      out.answer(std::move(questions_.front().to), ec::stale_data);
      questions_.pop_front();
    }
  }
  /// Whether the master is done with all commands, and this holds what it held then.
  bool idle() const {
    return connected_ && !question_ && waiting_.empty() && applied_ >= acknowledged_at_;
  }
  /// Answers all that is still asked: there will be no more.
  void end(store_effects& out) {
    for (auto& each : questions_)
      out.answer(std::move(each.to), ec::shutting_down);
    for (auto& each : waiting_)
      out.answer(std::move(each.to), ec::shutting_down);
    for (auto& each : due_)
      out.answer(std::move(each.to), ec::shutting_down);
    questions_.clear();
    waiting_.clear();
    due_.clear();
  }

private:
  struct open_question {
    store_query query;
    store_answer to;
    store_time until;
  };
  struct waiting_command {
    pubsub::data_writer content;
    store_answer to;
    store_time since;
  };
  /// The result of a command, which is told once its effect is seen here.
  struct due_answer {
    count update;
    store_answer to;
    data result;
  };

  bool is_stale(store_time now) const {
    return !connected_ && options_.stale.count() >= 0 && now - disconnected_ > options_.stale;
  }

  // -- updates and snapshots -------------------------------------------------------------------

  void ask_for_snapshot(store_time now, store_effects& out) {
    question_.emplace();
    question_->number = ++questions_asked_;
    asked_ = now;
    out.send(topics_.master, vector{"attach", id_, question_->number});
  }
  /// Whether this is the master that the clone follows. While that is silent, any other is asked
  /// for a snapshot.
  bool is_followed(const data& master, store_time now, store_effects& out) {
    if (!master.is_string())
      return false;
    if (synchronized_ && master.to_string() == master_) {
      heard_ = now;
      connect(now, out);
      return true;
    }
    if (!connected_ && now - asked_ > snapshot_wait)
      ask_for_snapshot(now, out);
    return false;
  }
  void connect(store_time now, store_effects& out) {
    if (std::exchange(connected_, true))
      return;
    sent_ = 0;
    progress_ = now;
    send_commands(out);
  }
  void receive_update(const vector& update, store_time now, store_effects& out) {
    if (!is_followed(update[1], now, out) || !update[2].is_count() ||
        update[2].to_count() <= applied_)
      return;
    if (update[2].to_count() != applied_ + 1)
      return miss_updates(now, out);
    ++applied_;
    if (update.size() == 5)
      entries_.put(update[3], update[4], std::nullopt);
    else if (update.size() == 4)
      entries_.erase(update[3]);
    else
      entries_.clear();
    tell_results(out);
  }
  void receive_alive(const vector& message, store_time now, store_effects& out) {
    if (!is_followed(message[1], now, out) || !message[2].is_count())
      return;
    if (message[2].to_count() != applied_)
      return miss_updates(now, out);
    question_.reset();
    acknowledged_at_ = std::min(acknowledged_at_, applied_);
    for (auto& each : due_) // there is no later update to wait for
      each.update = std::min(each.update, applied_);
    tell_results(out);
    out.send(topics_.master, vector{"applied", id_, master_, applied_});
  }
  void miss_updates(store_time now, store_effects& out) {
    if (!question_)
      ask_for_snapshot(now, out);
  }
  void receive_snapshot(const vector& part, store_time now, store_effects& out) {
    if (!question_ || !part[1].is_string() || !part[2].is_count() ||
        part[3] != data{question_->number} || !part[4].is_count() || !part[5].is_boolean() ||
        !part[6].is_table())
      return;
    if (part[4] == data{0u}) {
      question_->master = std::string{part[1].to_string()};
      question_->update = part[2].to_count();
      question_->parts = 0;
      question_->entries.clear();
    }
    if (part[4].to_count() != question_->parts || part[1].to_string() != question_->master ||
        part[2].to_count() != question_->update)
      return; // a part is missing: the snapshot is asked for again
    ++question_->parts;
    asked_ = now;
    for (const auto& [key, value] : part[6].to_table())
      question_->entries.put(key, value, std::nullopt);
    if (part[5].to_boolean())
      take_snapshot(now, out);
  }
  void take_snapshot(store_time now, store_effects& out) {
    auto snapshot = std::exchange(question_, std::nullopt);
    const auto is_new = !synchronized_ || snapshot->master != master_;
    if (!is_new && snapshot->update < applied_)
      return; // updates have overtaken it
    synchronized_ = true;
    master_ = snapshot->master;
    entries_ = std::move(snapshot->entries);
    applied_ = snapshot->update;
    heard_ = now;
    if (is_new) { // it knows nothing of what another one was sent
      connected_ = false;
      acknowledged_at_ = 0;
      for (auto& each : due_)
        each.update = 0;
    }
    connect(now, out);
    for (auto& each : std::exchange(questions_, {}))
      out.answer(std::move(each.to), answer_of(entries_, each.query, now));
    tell_results(out);
  }

  // -- commands --------------------------------------------------------------------------------

  void send_commands(store_effects& out) {
    if (!connected_)
      return;
    for (const auto most = std::min(waiting_.size(), max_sent_commands); sent_ < most; ++sent_) {
      pubsub::data_writer message;
      message.begin_vector(6);
      message.write_string("command");
      message.write_string(id_);
      message.write_string(master_);
      message.write_count(first_);
      message.write_count(first_ + sent_);
      message.write_encoded(waiting_[sent_].content.bytes());
      out.messages.push_back({topics_.master, std::move(message)});
    }
  }
  void receive_acknowledgement(const vector& message, store_time now, store_effects& out) {
    if (!is_followed(message[1], now, out) || !message[2].is_count() || !message[3].is_count() ||
        !message[4].is_table() || message[2].to_count() < first_ ||
        message[2].to_count() >= first_ + sent_)
      return;
    acknowledged_at_ = message[3].to_count();
    progress_ = now;
    const auto& results = message[4].to_table();
    while (first_ <= message[2].to_count()) {
      if (waiting_.front().to) {
        const auto result = results.find(data{first_});
        due_.push_back({message[3].to_count(), std::move(waiting_.front().to),
                        result != results.end() ? result->second : data{false}});
      }
      forget_first();
      --sent_;
    }
    tell_results(out);
    send_commands(out);
  }
  void tell_results(store_effects& out) {
    for (; !due_.empty() && due_.front().update <= applied_; due_.pop_front())
      out.answer(std::move(due_.front().to), std::move(due_.front().result));
  }
  void give_up_commands(store_time now, store_effects& out) {
    if (connected_)
      return;
    while (!waiting_.empty() && now - std::max(waiting_.front().since, disconnected_) >=
                                    std::max(options_.buffer_for, timespan{0})) {
      out.answer(std::move(waiting_.front().to), ec::no_such_master);
      forget_first();
    }
  }
  void forget_first() {
    waiting_bytes_ -= waiting_.front().content.size_bytes();
    waiting_.pop_front();
    ++first_;
  }

  store_topics topics_;
  std::string id_ = new_store_id();
  clone_options options_;

  bool synchronized_ = false; ///< there was a snapshot once
  bool connected_ = false;    ///< the master was heard of lately
  store_time heard_;          ///< when, last
  store_time disconnected_;   ///< since when it is not connected
  std::string master_;
  count applied_ = 0; ///< the number of the last update
  store_entries entries_;
  std::optional<snapshot_question> question_;
  count questions_asked_ = 0;
  store_time asked_{}; ///< when a snapshot was asked for, or a part of it came, last
  std::deque<open_question> questions_;

  std::deque<waiting_command> waiting_; ///< those not acknowledged; the first sent_ are under way
  std::size_t waiting_bytes_ = 0;
  std::size_t sent_ = 0;
  count first_ = 1; ///< the number of the first that waits
  store_time progress_{};
  count acknowledged_at_ = 0; ///< the update at the last acknowledgement
  std::deque<due_answer> due_;
};

} // namespace detail
} // namespace over_pubsub
} // namespace broker
