// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_writer.hpp"

#include <utility>

#include "base/printable.hpp"
#include "bridge/redis/redis_entry.hpp"

namespace pubsub::bridge {

namespace {

using namespace std::chrono_literals;

/// A writer holds no more than these. So many records are on their way in some milliseconds.
constexpr std::size_t most_items = 10'000;
constexpr std::size_t most_bytes = 16 << 20;
/// What has been handed to the socket's side at once.
constexpr std::size_t most_unsent_bytes = 1 << 18;
/// Below this much, sending waits for `poll` or `hurry`.
constexpr std::size_t worth_sending_bytes = 1 << 16;
/// After a server said no for the moment.
constexpr auto pause = 200ms;
/// A server that does not answer for so long is connected to anew.
constexpr auto patience = 30s;

} // namespace

redis_writer::redis_writer(redis_url url, const redis& to)
    : link_(std::move(url)), max_length_(to.max_length), field_(to.field), list_(to.list) {}

bool redis_writer::write(engine_record& what) {
  if (items_.size() + later_.size() >= most_items || held_bytes_ >= most_bytes)
    return false;
  const auto bytes = size_of(what);
  held_bytes_ += bytes;
  items_.push_back({std::move(what), bytes});
  send_what_fits();
  if (link_.unsent() >= worth_sending_bytes)
    link_.flush();
  return true;
}

void redis_writer::poll(const settle_record& settle) {
  polled_ = true;
  link_.drive();
  follow_connection();
  while (const auto reply = link_.next())
    take_reply(*reply);
  follow_connection(); // a reply may have been none
  const auto now = clock::now();
  if (sent_ > 0 && now > last_reply_at_ + patience) {
    link_.drop("it does not answer");
    follow_connection();
  }
  if (sent_ == 0 && !later_.empty())
    put_back();
  send_what_fits();
  link_.flush();
  tell(settled_, settle);
}

/// What was sent on a connection that is gone is sent again.
void redis_writer::follow_connection() {
  if (link_.ready() && generation_ == link_.generation())
    return;
  for (std::size_t i = 0; i < sent_; ++i)
    items_[i].what.from.redelivered = true;
  sent_ = 0;
  if (link_.ready())
    generation_ = link_.generation();
}

/// Nothing is sent while something that comes before it has to wait.
void redis_writer::send_what_fits() {
  if (!link_.ready() || generation_ != link_.generation() || !later_.empty() ||
      clock::now() < again_at_)
    return;
  if (sent_ == 0)
    last_reply_at_ = clock::now();
  while (sent_ < items_.size() && link_.unsent() < most_unsent_bytes)
    send(items_[sent_++]);
}

void redis_writer::send(const item& x) {
  if (list_ == redis_list::none)
    return add_to_stream(x);
  words_.assign({list_ == redis_list::rpush ? "RPUSH" : "LPUSH", x.what.to, x.what.payload.view()});
  link_.command(words_);
}

void redis_writer::add_to_stream(const item& x) {
  words_.assign({"XADD", x.what.to});
  const auto length = std::to_string(max_length_);
  if (max_length_ > 0)
    words_.insert(words_.end(), {"MAXLEN", "~", length});
  words_.insert(words_.end(), {"*", field_, x.what.payload.view()});
  if (!x.what.key.empty())
    words_.insert(words_.end(), {"key", x.what.key});
  const auto sequence = std::to_string(x.what.from.sequence.value_or(0));
  const auto part = std::to_string(x.what.from.part);
  for_each_header(x.what.from, [&](std::string_view name, std::string_view value) {
    // Its text goes when this returns.
    words_.insert(words_.end(), {name, name == "pubsub-sequence" ? std::string_view{sequence}
                                       : name == "pubsub-part"   ? std::string_view{part}
                                                                 : value});
  });
  link_.command(words_);
}

/// The id that a stream has given it, or how long the list is.
bool redis_writer::is_confirmation(const redisReply& reply) const {
  if (list_ == redis_list::none)
    return reply.type == REDIS_REPLY_STRING && parse_entry_id(text_of(reply));
  return reply.type == REDIS_REPLY_INTEGER && reply.integer > 0;
}

void redis_writer::take_reply(const redisReply& reply) {
  last_reply_at_ = clock::now();
  if (sent_ == 0)
    return link_.drop("it answers what was not asked");
  if (is_confirmation(reply)) {
    problem_.clear();
    return settle_first(outcome::written, {});
  }
  if (reply.type != REDIS_REPLY_ERROR)
    return link_.drop("its answer to a record is neither an id nor a length");
  const auto why = printable(text_of(reply));
  if (!is_passing(why))
    return settle_first(outcome::refused, why);
  problem_ = link_.url().shown() + ": " + why;
  again_at_ = clock::now() + pause;
  later_.push_back(std::move(items_.front()));
  items_.pop_front();
  --sent_;
}

void redis_writer::settle_first(outcome what, std::string_view why) {
  const auto& first = items_.front();
  settled_.push_back({first.what.number, what, first.bytes, std::string{why}});
  held_bytes_ -= first.bytes;
  items_.pop_front();
  --sent_;
}

void redis_writer::put_back() {
  for (; !later_.empty(); later_.pop_back())
    items_.push_front(std::move(later_.back()));
}

redis_writer::clock::time_point redis_writer::due() const {
  if (!settled_.empty() || !polled_ || (link_.ready() && link_.unsent() > 0))
    return clock::now();
  if (sent_ > 0)
    return last_reply_at_ + patience;
  if (!items_.empty() && link_.ready())
    return again_at_;
  return clock::time_point::max();
}

void redis_writer::hurry() {
  send_what_fits();
  link_.flush();
}

std::string redis_writer::last_problem() const {
  auto result = link_.problem();
  return result.empty() ? problem_ : result;
}

} // namespace pubsub::bridge
