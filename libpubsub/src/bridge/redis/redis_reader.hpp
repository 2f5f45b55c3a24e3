// Reads streams of a Redis server, alone or as a member of a group.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/redis/consumer_name.hpp"
#include "bridge/redis/redis_entry.hpp"
#include "bridge/redis/redis_link.hpp"

namespace pubsub::bridge {

struct redis_reader_options {
  std::vector<std::string> streams;
  std::string group; ///< empty: none
  std::string field;
  /// The reader begins behind this one; nothing: at what comes from now on.
  std::optional<entry_id> behind;
  /// A group that exists begins there, too.
  bool begin_anew = false;
};

/// As a member of a group it first reads what it was given before a restart, and takes over what
/// another member has held for a minute. What it holds itself it claims anew before that.
class redis_reader final : public engine_reader {
public:
  redis_reader(redis_url url, redis_reader_options options);

  void fetch(std::vector<fetched_record>& out, std::size_t max,
             std::chrono::milliseconds timeout) override;
  bool commit() override;
  bool at_end() const override;
  std::uint64_t lag() const override;
  error failure() const override { return failure_; }
  std::string last_problem() const override;

private:
  using clock = std::chrono::steady_clock;
  using milliseconds = std::chrono::milliseconds;

  enum class phase : std::uint8_t {
    unprepared, ///< the group may be missing, or the position is not known
    pending,    ///< reads what it was given before
    live,
  };
  struct stream {
    std::string name;
    phase now = phase::unprepared;
    entry_id behind;            // where the next read begins
    bool behind_end = false;    // at what comes from now on, which is not known yet
    std::set<entry_id> held;    // of a group: not acknowledged
    std::deque<entry_id> given; // those of `held` that `fetch` has returned
    entry_id claim_cursor;
    std::uint64_t length = 0;
    std::optional<std::uint64_t> group_lag;
    std::uint64_t group_pending = 0;
    bool informed = false;
  };
  /// What a reply is the answer to.
  enum class question : std::uint8_t {
    ignored,
    create,
    last_id,
    pending,
    live,
    autoclaim,
    length,
    groups,
    acknowledge,
  };
  struct asked {
    question what;
    std::size_t stream = 0;
    std::size_t count = 0; // of acknowledged ids
  };
  struct waiting {
    std::size_t stream;
    entry_id id;
    fetched_record record;
  };

  void step(std::size_t max, milliseconds block);
  void follow_connection();
  void ask(std::size_t max, milliseconds block);
  void prepare(std::size_t index);
  void look_around();
  void look_at(std::size_t index);
  void hold_on();
  void read_pending(std::size_t index, std::size_t max);
  void read_live(std::size_t max, milliseconds block);
  void send(const std::vector<std::string_view>& words, asked what);
  void take(const asked& what, const redisReply& reply);
  void take_error(const asked& what, std::string_view text);
  void take_last_id(stream& of, const redisReply& reply);
  void take_pending(std::size_t index, const redisReply& reply);
  void take_live(const redisReply& reply);
  void take_claimed(std::size_t index, const redisReply& reply);
  void take_groups(stream& of, const redisReply& reply);
  void take_acknowledged(stream& of, std::size_t count);
  void take_entries(std::size_t index, const redisReply& entries, bool again);
  void give_out(std::vector<fetched_record>& out, std::size_t max);
  void send_acknowledgements();
  void bad_reply();

  bool in_group() const noexcept { return !options_.group.empty(); }

  redis_link link_;
  const redis_reader_options options_;
  std::optional<consumer_name> name_;
  std::vector<stream> streams_;
  std::deque<asked> asked_; // in the order of their replies
  std::deque<waiting> waiting_;
  std::uint64_t generation_ = 0;
  std::uint64_t read_ = 0;
  std::size_t acknowledgements_ = 0; // asked for
  bool caught_up_ = false;           // the last read found nothing
  clock::time_point ask_at_{};
  clock::time_point claim_at_{};
  clock::time_point inform_at_{};
  clock::time_point hold_at_{};
  std::string problem_;
  error failure_;
};

} // namespace pubsub::bridge
