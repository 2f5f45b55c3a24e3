// Reads a list of a Redis server, and removes nothing from the server that is not done.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/bridge/engines.hpp>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/redis/consumer_name.hpp"
#include "bridge/redis/redis_link.hpp"

namespace pubsub::bridge {

/// Moves elements, many with each command, to the end of a list of its own, `KEY:pubsub:NAME`, and
/// trims that at its beginning by what is done. What it finds there when it begins comes first. The
/// sorted set `KEY:pubsub` has the names of all readers and when each was seen last, in seconds
/// since 1970: what one has left that was not seen for a minute is taken over.
///
/// Whatever changes the reader's own list is told how long that has to be, and changes nothing
/// where it is not: another reader has taken it over, and all that was not acknowledged comes
/// again.
class redis_list_reader final : public engine_reader {
public:
  /// `how`: not `none`.
  redis_list_reader(redis_url url, std::string key, redis_list how);

  void fetch(std::vector<fetched_record>& out, std::size_t max,
             std::chrono::milliseconds timeout) override;
  bool commit() override;
  bool at_end() const override;
  std::uint64_t lag() const override { return left_ + waiting_.size(); }
  error failure() const override { return failure_; }
  std::string last_problem() const override;

private:
  using clock = std::chrono::steady_clock;
  using milliseconds = std::chrono::milliseconds;

  enum class phase : std::uint8_t {
    unprepared, ///< it is not known how much its own list has
    pending,    ///< reads what its own list has behind what it holds
    live,
  };
  /// What a reply is the answer to.
  enum class question : std::uint8_t { length, pending, look, take_over, take, acknowledge };

  void step(bool may_take);
  void follow_connection();
  void ask(bool may_take);
  void send(const std::vector<std::string_view>& words, question what);
  void read_pending();
  void look_around();
  void move_from(const std::string& list, bool from_right, question what);
  void send_acknowledgement();
  void take(question what, const redisReply& reply);
  void take_error(std::string_view text);
  void take_length(const redisReply& reply);
  void take_pending(const redisReply& reply);
  void take_names(const redisReply& reply);
  void take_moved(question what, const redisReply& reply);
  void take_acknowledged(const redisReply& reply);
  bool take_elements(const redisReply& elements, bool again);
  void hold_nothing();
  void bad_reply();

  /// How long its own list is: what `fetch` has returned, and what it will.
  std::size_t held() const noexcept { return given_ + waiting_.size(); }

  redis_link link_;
  const std::string key_;
  const std::string readers_;
  const redis_list how_;
  std::optional<consumer_name> name_;
  std::string own_; // the name of its own list
  phase now_ = phase::unprepared;
  std::optional<question> asked_; // one at a time
  std::deque<fetched_record> waiting_;
  std::size_t given_ = 0;         // fetched and not acknowledged
  std::size_t acknowledging_ = 0; // of those, that the server was told of
  std::size_t at_once_;
  std::uint64_t generation_ = 0;
  std::uint64_t left_ = 0;        // elements of the list
  std::vector<std::string> dead_; // readers that have left something
  bool again_ = true;             // what is pending was given out before
  bool looked_ = false;           // for what others have left
  bool caught_up_ = false;        // the last reply had nothing
  clock::time_point ask_at_{};
  clock::time_point look_at_{};
  std::string problem_;
  error failure_;
};

} // namespace pubsub::bridge
