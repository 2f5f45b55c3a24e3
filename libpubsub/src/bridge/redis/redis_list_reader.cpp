// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_list_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/printable.hpp"

namespace pubsub::bridge {

namespace {

using namespace std::chrono_literals;

/// An empty list is looked at so often.
constexpr auto poll_interval = 10ms;
constexpr auto look_interval = 10s;
/// Lua has room for some thousand values on its stack.
constexpr std::size_t most_at_once = 1000;
/// Of elements whose size is not known yet.
constexpr std::size_t first_at_once = 100;
/// Large elements are fewer at once, so that neither side needs much memory for a reply.
constexpr std::size_t bytes_at_once = 4 << 20;

// Scripts, and not LMOVE: that is one command for each element, and a server whose memory is full
// refuses it, so that the list could never be emptied. A script that has begun to remove may go on.

/// KEYS: from, own, readers. ARGV: length of own, how many, from its right end (1) or left (0),
/// name. Moves and returns elements, the oldest first, and how many are left.
constexpr std::string_view move_script = R"(
if redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[1]) then return false end
local n, right, all = tonumber(ARGV[2]), ARGV[3] == '1', nil
if right then all = redis.call('LRANGE', KEYS[1], -n, -1)
else all = redis.call('LRANGE', KEYS[1], 0, n - 1) end
if #all > 0 then
  redis.call('ZREM', KEYS[3], ARGV[4])
  redis.call('ZADD', KEYS[3], redis.call('TIME')[1], ARGV[4])
  if right then
    redis.call('LTRIM', KEYS[1], 0, -#all - 1)
    for i = 1, math.floor(#all / 2) do all[i], all[#all + 1 - i] = all[#all + 1 - i], all[i] end
  else
    redis.call('LTRIM', KEYS[1], #all, -1)
  end
  redis.call('RPUSH', KEYS[2], unpack(all))
end
return {all, redis.call('LLEN', KEYS[1])})";

/// KEYS: readers. ARGV: name. Says that the reader is there, forgets those that have left nothing,
/// and returns the names of those that have.
constexpr std::string_view look_script = R"(
local now, left = redis.call('TIME')[1], {}
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - 60)) do
  if redis.call('EXISTS', KEYS[1] .. ':' .. name) == 1 then left[#left + 1] = name
  else redis.call('ZREM', KEYS[1], name) end
end
return left)";

/// KEYS: own. ARGV: its length, how many are done.
constexpr std::string_view acknowledge_script = R"(
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return 0 end
redis.call('LTRIM', KEYS[1], ARGV[2], -1)
return 1)";

} // namespace

redis_list_reader::redis_list_reader(redis_url url, std::string key, redis_list how)
    : link_(std::move(url)), key_(std::move(key)), readers_(key_ + ":pubsub"), how_(how),
      at_once_(first_at_once) {}

void redis_list_reader::fetch(std::vector<fetched_record>& out, std::size_t max,
                              milliseconds timeout) {
  const auto until = clock::now() + timeout;
  if (!name_) {
    name_.emplace(link_.url().shown() + " " + std::to_string(link_.url().database) + " " + key_);
    own_ = readers_ + ":" + name_->text();
  }
  while (max > 0 && !failure_) {
    step(true);
    const auto count = std::min(max, waiting_.size());
    std::move(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count),
              std::back_inserter(out));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    given_ += count;
    const auto left = std::chrono::duration_cast<milliseconds>(until - clock::now());
    if (count > 0 || left <= 0ms)
      return;
    link_.wait(std::min<milliseconds>(left, poll_interval));
  }
}

void redis_list_reader::step(bool may_take) {
  link_.drive();
  follow_connection();
  while (const auto reply = link_.next()) {
    if (!asked_)
      return link_.drop("it answers what was not asked");
    take(*std::exchange(asked_, std::nullopt), *reply);
  }
  follow_connection();
  if (link_.ready() && !failure_)
    ask(may_take);
  link_.flush();
}

/// What was asked on a connection that is gone may have been done, or not.
void redis_list_reader::follow_connection() {
  if (link_.ready() && generation_ == link_.generation())
    return;
  if (link_.ready())
    generation_ = link_.generation();
  asked_.reset();
  caught_up_ = false;
  now_ = phase::unprepared;
}

void redis_list_reader::ask(bool may_take) {
  const auto now = clock::now();
  if (asked_ || now < ask_at_)
    return;
  if (now_ == phase::unprepared)
    return send({"LLEN", own_}, question::length);
  if (now_ == phase::pending)
    return read_pending();
  if (now >= look_at_)
    return look_around();
  // The next elements are on their way while these are passed on.
  if (!may_take || waiting_.size() > most_at_once)
    return;
  if (!dead_.empty())
    return move_from(readers_ + ":" + dead_.back(), false, question::take_over);
  move_from(key_, how_ == redis_list::lpush, question::take);
}

void redis_list_reader::send(const std::vector<std::string_view>& words, question what) {
  link_.command(words);
  asked_ = what;
}

void redis_list_reader::read_pending() {
  const auto first = std::to_string(held());
  const auto last = std::to_string(held() + at_once_ - 1);
  send({"LRANGE", own_, first, last}, question::pending);
}

void redis_list_reader::look_around() {
  look_at_ = clock::now() + look_interval;
  send({"EVAL", look_script, "1", readers_, name_->text()}, question::look);
}

void redis_list_reader::move_from(const std::string& list, bool from_right, question what) {
  const auto length = std::to_string(held());
  const auto count = std::to_string(at_once_);
  send({"EVAL", move_script, "3", list, own_, readers_, length, count, from_right ? "1" : "0",
        name_->text()},
       what);
}

void redis_list_reader::send_acknowledgement() {
  acknowledging_ = given_;
  const auto length = std::to_string(held());
  const auto done = std::to_string(given_);
  send({"EVAL", acknowledge_script, "1", own_, length, done}, question::acknowledge);
  link_.flush();
}

void redis_list_reader::take(question what, const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR)
    return take_error(text_of(reply));
  switch (what) {
  case question::length:
    return take_length(reply);
  case question::pending:
    return take_pending(reply);
  case question::look:
    return take_names(reply);
  case question::take_over:
  case question::take:
    return take_moved(what, reply);
  case question::acknowledge:
    return take_acknowledged(reply);
  }
}

void redis_list_reader::take_error(std::string_view text) {
  acknowledging_ = 0;
  const auto why = link_.url().shown() + ": " + printable(key_) + ": " + printable(text);
  // Older servers put words of their own before that of a command in a script.
  if (text.find("WRONGTYPE") != std::string_view::npos)
    failure_ = {errc::invalid_argument, why};
  problem_ = why;
  ask_at_ = clock::now() + pause_after_error;
}

void redis_list_reader::take_length(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_INTEGER || reply.integer < 0)
    return bad_reply();
  const auto length = static_cast<std::size_t>(reply.integer);
  const auto acknowledged = std::exchange(acknowledging_, 0);
  if (length < held() && length + acknowledged == held())
    given_ -= acknowledged; // the connection was lost with the answer
  else if (length < held())
    hold_nothing();
  now_ = phase::pending;
}

void redis_list_reader::take_pending(const redisReply& reply) {
  if (!is_array(&reply, 0) || !take_elements(reply, again_))
    return bad_reply();
  if (reply.elements > 0)
    return;
  now_ = phase::live;
  again_ = false;
}

void redis_list_reader::take_names(const redisReply& reply) {
  if (!is_array(&reply, 0))
    return bad_reply();
  dead_.clear();
  for (std::size_t i = 0; i < reply.elements; ++i)
    if (const auto name = text_of(*reply.element[i]); name != name_->text())
      dead_.emplace_back(name);
  looked_ = looked_ || dead_.empty();
}

void redis_list_reader::take_moved(question what, const redisReply& reply) {
  if (reply.type == REDIS_REPLY_NIL) {
    hold_nothing();
    now_ = phase::unprepared;
    return;
  }
  if (!is_array(&reply, 2) || !is_array(reply.element[0], 0) ||
      reply.element[1]->type != REDIS_REPLY_INTEGER || reply.element[1]->integer < 0)
    return bad_reply();
  const auto& elements = *reply.element[0];
  const auto left = static_cast<std::uint64_t>(reply.element[1]->integer);
  if (!take_elements(elements, what == question::take_over))
    return bad_reply();
  problem_.clear();
  if (what == question::take_over) {
    if (left == 0 && !dead_.empty())
      dead_.pop_back();
    looked_ = looked_ || dead_.empty();
    return;
  }
  left_ = left;
  caught_up_ = elements.elements == 0 && left == 0;
  if (caught_up_)
    ask_at_ = clock::now() + poll_interval;
}

/// False where one is not a string.
bool redis_list_reader::take_elements(const redisReply& elements, bool again) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < elements.elements; ++i) {
    if (elements.element[i]->type != REDIS_REPLY_STRING)
      return false;
    fetched_record one;
    one.to = key_;
    one.payload = text_of(*elements.element[i]);
    one.again = again;
    bytes += one.payload.size();
    waiting_.push_back(std::move(one));
  }
  if (elements.elements > 0)
    at_once_ =
        std::clamp<std::size_t>(bytes_at_once / (bytes / elements.elements + 1), 1, most_at_once);
  return true;
}

void redis_list_reader::take_acknowledged(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_INTEGER)
    return bad_reply();
  const auto done = std::exchange(acknowledging_, 0);
  if (reply.integer == 1) {
    given_ -= done;
    return;
  }
  hold_nothing();
  now_ = phase::unprepared;
}

/// What its own list has comes again: another reader has changed it, or the server has lost some.
void redis_list_reader::hold_nothing() {
  problem_ = link_.url().shown() + ": " + printable(own_) +
             " was changed by another: what is there comes again";
  waiting_.clear();
  given_ = 0;
  again_ = true;
}

void redis_list_reader::bad_reply() {
  link_.drop("an answer has another shape than Redis gives it");
}

bool redis_list_reader::commit() {
  const auto until = clock::now() + patience_with_commit;
  while (given_ > 0) {
    step(false);
    const auto left = std::chrono::duration_cast<milliseconds>(until - clock::now());
    if (given_ == 0)
      return !again_;
    if (left <= 0ms || failure_ || !link_.ready())
      return false;
    if (!asked_ && now_ == phase::live && clock::now() >= ask_at_)
      send_acknowledgement();
    link_.wait(std::min<milliseconds>(left, poll_interval));
  }
  return true;
}

bool redis_list_reader::at_end() const {
  return caught_up_ && waiting_.empty() && looked_;
}

std::string redis_list_reader::last_problem() const {
  auto result = link_.problem();
  return result.empty() ? problem_ : result;
}

} // namespace pubsub::bridge
