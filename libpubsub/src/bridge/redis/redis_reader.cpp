// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_reader.hpp"

#include <algorithm>

#include "base/printable.hpp"

namespace pubsub::bridge {

namespace {

using namespace std::chrono_literals;

/// What another member of the group has held for so long is taken over.
constexpr std::string_view lost_after_ms = "60000";
constexpr auto claim_interval = 10s;
/// So often a reader says that it is still at what it holds.
constexpr auto hold_interval = 20s;
constexpr auto inform_interval = 500ms;
constexpr std::size_t ids_at_once = 1000;

std::optional<std::uint64_t> number_of(const redisReply& x) {
  if (x.type != REDIS_REPLY_INTEGER || x.integer < 0)
    return {};
  return static_cast<std::uint64_t>(x.integer);
}

} // namespace

redis_reader::redis_reader(redis_url url, redis_reader_options options)
    : link_(std::move(url)), options_(std::move(options)) {
  for (const auto& name : options_.streams) {
    auto& added = streams_.emplace_back();
    added.name = name;
    added.behind = options_.behind.value_or(entry_id{});
    added.behind_end = !options_.behind;
  }
}

void redis_reader::fetch(std::vector<fetched_record>& out, std::size_t max, milliseconds timeout) {
  const auto until = clock::now() + timeout;
  if (in_group() && !name_)
    name_.emplace(link_.url().shown() + " " + std::to_string(link_.url().database) + " " +
                  options_.group);
  const auto before = out.size();
  while (max > 0 && !failure_) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - clock::now());
    step(max, left);
    give_out(out, max);
    if (out.size() > before || left <= 0ms)
      return;
    link_.wait(std::min<milliseconds>(left, 50ms));
  }
}

void redis_reader::step(std::size_t max, milliseconds block) {
  link_.drive();
  follow_connection();
  while (const auto reply = link_.next()) {
    if (asked_.empty())
      return link_.drop("it answers what was not asked");
    const auto what = asked_.front();
    asked_.pop_front();
    take(what, *reply);
  }
  follow_connection();
  if (link_.ready() && !failure_)
    ask(max, block);
  link_.flush();
}

/// A member of a group looks again for what it was given: the last replies may not have come.
void redis_reader::follow_connection() {
  if (link_.ready() && generation_ == link_.generation())
    return;
  if (link_.ready())
    generation_ = link_.generation();
  asked_.clear();
  acknowledgements_ = 0;
  caught_up_ = false;
  for (auto& each : streams_)
    if (in_group())
      each.now = phase::unprepared;
}

void redis_reader::ask(std::size_t max, milliseconds block) {
  const auto busy =
      std::ranges::any_of(asked_, [](const asked& x) { return x.what != question::acknowledge; });
  const auto now = clock::now();
  if (busy || now < ask_at_)
    return;
  if (const auto missing = std::ranges::find(streams_, phase::unprepared, &stream::now);
      missing != streams_.end())
    return prepare(static_cast<std::size_t>(missing - streams_.begin()));
  if (now >= inform_at_) {
    inform_at_ = now + inform_interval;
    look_around();
  }
  if (in_group() && now >= hold_at_) {
    hold_at_ = now + hold_interval;
    hold_on();
  }
  if (max == 0 || waiting_.size() >= max)
    return;
  if (const auto old = std::ranges::find(streams_, phase::pending, &stream::now);
      old != streams_.end())
    return read_pending(static_cast<std::size_t>(old - streams_.begin()), max);
  read_live(max, block);
}

void redis_reader::prepare(std::size_t index) {
  auto& of = streams_[index];
  if (!in_group()) {
    if (of.behind_end)
      return send({"XREVRANGE", of.name, "+", "-", "COUNT", "1"}, {question::last_id, index});
    of.now = phase::live;
    return;
  }
  if (options_.begin_anew && !of.informed)
    send({"XGROUP", "DESTROY", of.name, options_.group}, {question::ignored, index});
  // Once it has begun, what a group that is made again has to read is all there is.
  const auto begin = of.informed ? entry_id{}.text() : of.behind_end ? "$" : of.behind.text();
  send({"XGROUP", "CREATE", of.name, options_.group, begin, "MKSTREAM"}, {question::create, index});
}

void redis_reader::look_around() {
  for (std::size_t i = 0; i < streams_.size(); ++i)
    look_at(i);
  if (!in_group() || clock::now() < claim_at_)
    return;
  claim_at_ = clock::now() + claim_interval;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    send({"XAUTOCLAIM", streams_[i].name, options_.group, name_->text(), lost_after_ms,
          streams_[i].claim_cursor.text(), "COUNT", "100"},
         {question::autoclaim, i});
}

void redis_reader::look_at(std::size_t index) {
  send({"XLEN", streams_[index].name}, {question::length, index});
  if (in_group())
    send({"XINFO", "GROUPS", streams_[index].name}, {question::groups, index});
}

void redis_reader::hold_on() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto& of = streams_[i];
    std::vector<std::string> ids;
    for (auto each = of.held.begin(); each != of.held.end();) {
      for (ids.clear(); each != of.held.end() && ids.size() < ids_at_once; ++each)
        ids.push_back(each->text());
      std::vector<std::string_view> words{"XCLAIM", of.name, options_.group, name_->text(), "0"};
      words.insert(words.end(), ids.begin(), ids.end());
      words.emplace_back("JUSTID");
      send(words, {question::ignored, i});
    }
  }
}

void redis_reader::read_pending(std::size_t index, std::size_t max) {
  const auto& of = streams_[index];
  send({"XREADGROUP", "GROUP", options_.group, name_->text(), "COUNT", std::to_string(max),
        "STREAMS", of.name, of.behind.text()},
       {question::pending, index});
}

void redis_reader::read_live(std::size_t max, milliseconds block) {
  std::vector<std::string> positions;
  std::vector<std::string_view> words;
  if (in_group())
    words = {"XREADGROUP", "GROUP", options_.group, name_->text()};
  else
    words = {"XREAD"};
  const auto count = std::to_string(max);
  words.insert(words.end(), {"COUNT", count});
  const auto patience = std::to_string(block.count());
  if (block > 0ms) // 0 means for ever there
    words.insert(words.end(), {"BLOCK", patience});
  words.emplace_back("STREAMS");
  for (const auto& each : streams_) {
    words.emplace_back(each.name);
    positions.push_back(in_group() ? ">" : each.behind.text());
  }
  words.insert(words.end(), positions.begin(), positions.end());
  send(words, {question::live});
}

void redis_reader::send(const std::vector<std::string_view>& words, asked what) {
  link_.command(words);
  asked_.push_back(what);
}

void redis_reader::take(const asked& what, const redisReply& reply) {
  auto& of = streams_[what.stream];
  if (what.what == question::ignored)
    return;
  if (reply.type == REDIS_REPLY_ERROR)
    return take_error(what, text_of(reply));
  switch (what.what) {
  case question::create: // nothing is held in a group that is new, and ids may come again
    of.held.clear();
    of.given.clear();
    of.now = phase::pending;
    of.behind = {};
    problem_.clear();
    return;
  case question::last_id:
    return take_last_id(of, reply);
  case question::pending:
    return take_pending(what.stream, reply);
  case question::live:
    return take_live(reply);
  case question::autoclaim:
    return take_claimed(what.stream, reply);
  case question::length:
    of.length = number_of(reply).value_or(0);
    of.informed = of.informed || !in_group();
    return;
  case question::groups:
    return take_groups(of, reply);
  case question::acknowledge:
    return number_of(reply) ? take_acknowledged(of, what.count) : bad_reply();
  case question::ignored:
    return;
  }
}

void redis_reader::take_error(const asked& what, std::string_view text) {
  auto& of = streams_[what.stream];
  if (what.what == question::acknowledge)
    --acknowledgements_;
  if (text.starts_with("BUSYGROUP")) { // the group is there
    of.now = phase::pending;
    of.behind = {};
    return;
  }
  if (text.starts_with("NOGROUP")) {
    for (auto& each : streams_)
      each.now = phase::unprepared;
    return;
  }
  const auto why = link_.url().shown() + ": " + printable(text);
  if (text.starts_with("WRONGTYPE"))
    failure_ = {errc::invalid_argument, why};
  problem_ = why;
  ask_at_ = clock::now() + pause_after_error;
}

void redis_reader::take_last_id(stream& of, const redisReply& reply) {
  if (!is_array(&reply, 0))
    return bad_reply();
  if (reply.elements > 0) {
    const auto& entry = *reply.element[0];
    const auto id = is_array(&entry, 2) ? parse_entry_id(text_of(*entry.element[0])) : std::nullopt;
    if (!id)
      return bad_reply();
    of.behind = *id;
  }
  of.behind_end = false;
  of.now = phase::live;
}

void redis_reader::take_pending(std::size_t index, const redisReply& reply) {
  if (!is_array(&reply, 1) || !is_array(reply.element[0], 2))
    return bad_reply();
  const auto& entries = *reply.element[0]->element[1];
  if (!is_array(&entries, 0))
    return bad_reply();
  if (entries.elements == 0)
    streams_[index].now = phase::live;
  else
    take_entries(index, entries, true);
}

void redis_reader::take_live(const redisReply& reply) {
  caught_up_ = reply.type == REDIS_REPLY_NIL;
  if (caught_up_)
    return;
  if (!is_array(&reply, 1))
    return bad_reply();
  for (std::size_t i = 0; i < reply.elements; ++i) {
    const auto& one = *reply.element[i];
    if (!is_array(&one, 2) || !is_array(one.element[1], 0))
      return bad_reply();
    const auto found = std::ranges::find(streams_, text_of(*one.element[0]), &stream::name);
    if (found == streams_.end())
      return bad_reply();
    take_entries(static_cast<std::size_t>(found - streams_.begin()), *one.element[1], false);
  }
}

void redis_reader::take_claimed(std::size_t index, const redisReply& reply) {
  if (!is_array(&reply, 2) || !is_array(reply.element[1], 0))
    return bad_reply();
  const auto cursor = parse_entry_id(text_of(*reply.element[0]));
  if (!cursor)
    return bad_reply();
  auto& of = streams_[index];
  of.claim_cursor = *cursor;
  if (*cursor != entry_id{})
    claim_at_ = {};              // there is more
  const auto behind = of.behind; // claims are in no order with what is read
  take_entries(index, *reply.element[1], true);
  of.behind = behind;
}

void redis_reader::take_groups(stream& of, const redisReply& reply) {
  if (!is_array(&reply, 0))
    return bad_reply();
  for (std::size_t i = 0; i < reply.elements; ++i) {
    const auto& group = *reply.element[i];
    if (!is_array(&group, 0))
      return bad_reply();
    std::string_view name;
    std::optional<std::uint64_t> pending, lag;
    for (std::size_t j = 0; j + 1 < group.elements; j += 2) {
      const auto field = text_of(*group.element[j]);
      const auto& value = *group.element[j + 1];
      if (field == "name")
        name = text_of(value);
      else if (field == "pending")
        pending = number_of(value);
      else if (field == "lag") // none where the server does not know
        lag = number_of(value);
    }
    if (name != options_.group || !pending)
      continue;
    of.group_pending = *pending;
    of.group_lag = lag;
    of.informed = true;
  }
}

void redis_reader::take_acknowledged(stream& of, std::size_t count) {
  --acknowledgements_;
  of.group_pending -= std::min<std::uint64_t>(of.group_pending, count);
  for (; count > 0 && !of.given.empty(); --count) {
    of.held.erase(of.given.front());
    of.given.pop_front();
  }
}

void redis_reader::take_entries(std::size_t index, const redisReply& entries, bool again) {
  auto& of = streams_[index];
  for (std::size_t i = 0; i < entries.elements; ++i) {
    const auto& entry = *entries.element[i];
    if (entry.type == REDIS_REPLY_NIL) // claimed, and gone from the stream
      continue;
    const auto id = is_array(&entry, 2) ? parse_entry_id(text_of(*entry.element[0])) : std::nullopt;
    if (!id)
      return bad_reply();
    of.behind = std::max(of.behind, *id);
    const auto& fields = *entry.element[1];
    if (fields.type == REDIS_REPLY_NIL) { // given out before, and gone from the stream
      send({"XACK", of.name, options_.group, id->text()}, {question::ignored, index});
      continue;
    }
    waiting one{index, *id, {}};
    one.record.to = of.name;
    one.record.again = again;
    if (!read_entry(fields, options_.field, one.record))
      return bad_reply();
    if (!again && of.group_lag && *of.group_lag > 0)
      --*of.group_lag;
    if (!in_group() || of.held.insert(*id).second)
      waiting_.push_back(std::move(one));
  }
}

void redis_reader::give_out(std::vector<fetched_record>& out, std::size_t max) {
  for (; max > 0 && !waiting_.empty(); --max) {
    auto& first = waiting_.front();
    if (in_group())
      streams_[first.stream].given.push_back(first.id);
    out.push_back(std::move(first.record));
    waiting_.pop_front();
    ++read_;
  }
}

bool redis_reader::commit() {
  if (!in_group())
    return true;
  const auto until = clock::now() + patience_with_commit;
  while (true) {
    step(0, 0ms);
    if (std::ranges::all_of(streams_, [](const stream& x) { return x.given.empty(); }))
      return true;
    const auto left = std::chrono::duration_cast<milliseconds>(until - clock::now());
    if (left <= 0ms || failure_ || !link_.ready())
      return false;
    if (acknowledgements_ == 0 && clock::now() >= ask_at_)
      send_acknowledgements();
    link_.wait(left);
  }
}

void redis_reader::send_acknowledgements() {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto& of = streams_[i];
    for (auto each = of.given.begin(); each != of.given.end();) {
      for (ids.clear(); each != of.given.end() && ids.size() < ids_at_once; ++each)
        ids.push_back(each->text());
      std::vector<std::string_view> words{"XACK", of.name, options_.group};
      words.insert(words.end(), ids.begin(), ids.end());
      send(words, {question::acknowledge, i, ids.size()});
      ++acknowledgements_;
    }
  }
  link_.flush();
}

void redis_reader::bad_reply() {
  link_.drop("an answer has another shape than Redis gives it");
}

bool redis_reader::at_end() const {
  if (!caught_up_ || !waiting_.empty())
    return false;
  return std::ranges::all_of(streams_, [this](const stream& x) {
    return !in_group() || (x.informed && x.group_pending <= x.held.size());
  });
}

std::uint64_t redis_reader::lag() const {
  std::uint64_t kept = 0;
  for (const auto& each : streams_)
    kept += each.group_lag.value_or(each.length);
  if (in_group())
    return kept + waiting_.size();
  return caught_up_ || kept < read_ ? 0 : kept - read_;
}

std::string redis_reader::last_problem() const {
  auto result = link_.problem();
  return result.empty() ? problem_ : result;
}

} // namespace pubsub::bridge
