// Appends records to streams or lists of a Redis server, many at a time.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/engine/engine_writer.hpp"
#include "bridge/engine/settled.hpp"
#include "bridge/redis/redis_link.hpp"

namespace pubsub::bridge {

/// One XADD, RPUSH or LPUSH for each record, whose replies come in order. Where the connection is
/// lost, what is not confirmed is sent again with the field `pubsub-redelivered` (of a stream): it
/// may be there already.
class redis_writer final : public engine_writer {
public:
  redis_writer(redis_url url, const redis& to);

  bool write(engine_record& what) override;
  void poll(const settle_record& settle) override;
  int fd() const override { return link_.fd(); }
  clock::time_point due() const override;
  void hurry() override;
  error failure() const override { return {}; }
  std::string last_problem() const override;
  std::string usable_name(std::string_view name) const override { return std::string{name}; }

private:
  struct item {
    engine_record what;
    std::size_t bytes;
  };

  void follow_connection();
  void send_what_fits();
  void send(const item& x);
  void add_to_stream(const item& x);
  bool is_confirmation(const redisReply& reply) const;
  void take_reply(const redisReply& reply);
  void settle_first(outcome what, std::string_view why);
  void put_back();

  redis_link link_;
  const std::uint64_t max_length_;
  const std::string field_;
  const redis_list list_;
  std::deque<item> items_; // not settled, in order; the first `sent_` wait for a reply
  std::deque<item> later_; // the server said no for the moment, before items_ in order
  std::size_t sent_ = 0;
  std::size_t held_bytes_ = 0;
  std::uint64_t generation_ = 0;
  bool polled_ = false; // before that nothing has been begun
  std::vector<settled_record> settled_;
  std::vector<std::string_view> words_; // of one command
  std::string problem_;
  clock::time_point again_at_{};      // while later_ has something, or had
  clock::time_point last_reply_at_{}; // or the time since which one has been waited for
};

} // namespace pubsub::bridge
