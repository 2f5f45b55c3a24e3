// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/jetstream_writer.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/printable.hpp"
#include "bridge/engine/json_text.hpp"
#include "bridge/jetstream/subject.hpp"

namespace pubsub::bridge {

namespace {

using namespace std::chrono_literals;

/// A writer holds no more than these. So many records are on their way in some milliseconds.
constexpr std::size_t most_items = 10'000;
constexpr std::size_t most_bytes = 16 << 20;
/// What has been handed to cnats and not to the socket.
constexpr int most_buffered_bytes = 1 << 20;
/// Below this much, sending waits for `poll` or `hurry`.
constexpr int worth_sending_bytes = 1 << 16;
/// After a server said no for the moment.
constexpr auto pause = 250ms;
/// A record whose confirmation has not come for so long is sent again.
constexpr auto patience = 10s;
/// A server remembers ids for two minutes unless it is told otherwise. What is sent again later
/// than this after the first time may be there twice, and says so.
constexpr auto surely_remembered = 60s;
constexpr std::uint64_t no_such_stream = 10059;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(", "), text.size());
    if (end > 0)
      result.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

/// Headers are lines.
std::string one_line(std::string_view text) {
  std::string result{text};
  std::ranges::replace_if(
      result, [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, '_');
  return result;
}

/// What the server knows a record by that comes twice: each record of a message has an id of its
/// own.
std::string id_of(const provenance& from) {
  auto result = std::string{from.origin} + ":" + std::to_string(*from.sequence);
  if (from.part > 0)
    result += ":" + std::to_string(from.part);
  return result;
}

bool is_final(const api_error& x) {
  return x.code >= 400 && x.code < 500 && x.code != 408 && x.code != 429;
}

} // namespace

jetstream_writer::jetstream_writer(std::unique_ptr<nats_link> link, const jetstream& to)
    : link_(std::move(link)), stream_(to.stream), subjects_(words_of(to.subjects)) {}

std::string jetstream_writer::usable_name(std::string_view name) const {
  return to_subject(name);
}

bool jetstream_writer::write(engine_record& what) {
  if (items_.size() >= most_items || held_bytes_ >= most_bytes)
    return false;
  const auto bytes = size_of(what);
  held_bytes_ += bytes;
  items_.push_back({std::move(what), bytes});
  if (!is_subject(items_.back().what.to))
    settle(items_.back(), outcome::refused,
           "no subject of NATS: " + printable(items_.back().what.to));
  send_what_waits();
  if (link_->ready() && ::natsConnection_Buffered(link_->get()) >= worth_sending_bytes)
    link_->flush();
  return true;
}

void jetstream_writer::poll(const settle_record& settle) {
  polled_ = true;
  link_->drive();
  follow_connection();
  take_answers();
  refuse_denied();
  look_at_time();
  send_what_waits();
  link_->flush();
  forget_done();
  tell(settled_, settle);
}

void jetstream_writer::follow_connection() {
  if (!link_->ready()) {
    records_.reset();
    answers_.reset();
    return;
  }
  if (std::exchange(generation_, link_->generation()) == link_->generation())
    return;
  records_ = link_->subscribe("r", confirmations_);
  answers_ = link_->subscribe("a");
  if (!records_ || !answers_)
    return link_->drop("it takes no subscriptions");
  begin();
}

/// Everything that is not confirmed is sent again, in order.
void jetstream_writer::begin() {
  for (auto& each : items_)
    if (each.now != state::done)
      each.now = state::unsent;
  next_ = first_;
  again_ = 0;
  homeless_.clear();
  stream_is_there_ = stream_.empty();
  ask_at_ = clock::time_point::max();
  if (!stream_is_there_)
    ask_for_stream();
}

void jetstream_writer::ask_for_stream() {
  ask_at_ = clock::now() + 1s; // the answer may not come
  link_->request("$JS.API.STREAM.INFO." + stream_, {}, "a.stream");
}

void jetstream_writer::make_stream() {
  std::string config = R"({"name":)";
  append_json_string(config, stream_);
  config += R"(,"subjects":[)";
  for (const auto& each : subjects_) {
    if (&each != &subjects_.front())
      config += ',';
    append_json_string(config, each);
  }
  config += R"(],"retention":"limits","storage":"file","discard":"old","max_consumers":-1,)"
            R"("max_msgs":-1,"max_bytes":-1,"max_msg_size":-1,"num_replicas":1})";
  link_->request("$JS.API.STREAM.CREATE." + stream_, config, "a.stream");
}

void jetstream_writer::take_answers() {
  for (const auto& answer : confirmations_->take()) {
    const std::string_view subject = ::natsMsg_GetSubject(answer.get());
    take_record_answer(subject.substr(subject.rfind('.') + 1), *answer);
  }
  while (const next_message answer{answers_.get()}) {
    const std::string_view subject =
        answer.unanswered ? std::string_view{} : ::natsMsg_GetSubject(answer.message.get());
    const auto reply =
        answer.unanswered ? std::nullopt : parser_.parse(payload_of(answer.message.get()));
    if (answer.unanswered || subject.ends_with(".stream"))
      take_stream_answer(reply);
    if (answer.unanswered || !subject.ends_with(".stream"))
      take_names_answer(reply);
  }
}

void jetstream_writer::take_record_answer(std::string_view token, natsMsg& answer) {
  std::uint64_t number = 0;
  const auto* const end = token.data() + token.size();
  const auto [at, failure] = std::from_chars(token.data(), end, number);
  if (failure != std::errc{} || at != end || number < first_ || number - first_ >= items_.size())
    return;
  auto& x = items_[number - first_];
  if (x.now == state::done) // confirmed twice: it was sent twice
    return;
  if (::natsMsg_IsNoResponders(&answer)) {
    if (x.now == state::sent)
      x.now = state::homeless;
    any_homeless_ = true;
    return;
  }
  const auto reply = parser_.parse(payload_of(&answer));
  if (reply && reply->sequence) {
    problem_.clear();
    return settle(x, outcome::written, {});
  }
  if (reply && reply->error && is_final(*reply->error))
    return settle(x, outcome::refused, reply->error->text);
  put_off(x, reply && reply->error ? reply->error->text : "an answer that is none of JetStream");
}

void jetstream_writer::take_stream_answer(const std::optional<api_reply>& reply) {
  if (stream_is_there_)
    return;
  if (reply && !reply->error) {
    stream_is_there_ = true;
    ask_at_ = clock::time_point::max();
    problem_.clear();
    return;
  }
  ask_at_ = clock::now() + 1s;
  problem_ = link_->address() + ": " +
             (reply ? reply->error->text : "it does not answer for JetStream; is it on?");
  if (reply && reply->error->number == no_such_stream && !subjects_.empty())
    make_stream();
  else if (reply && is_final(*reply->error) && reply->error->number != no_such_stream)
    failure_ = {errc::invalid_argument, "the stream " + stream_ + ": " + reply->error->text};
}

/// Whether any stream takes the subject of the records that none has taken.
void jetstream_writer::take_names_answer(const std::optional<api_reply>& reply) {
  if (homeless_.empty())
    return;
  const auto subject = std::exchange(homeless_, {});
  const bool none = reply && reply->first_name && reply->first_name->empty();
  const auto why = none    ? "no stream takes the subject " + subject
                   : reply ? "the stream of " + subject + " does not answer"
                           : std::string{"it does not answer for JetStream; is it on?"};
  for (auto& each : items_) {
    if (each.now != state::homeless || each.what.to.view() != subject)
      continue;
    if (none)
      settle(each, outcome::refused, why);
    else
      put_off(each, why);
  }
}

void jetstream_writer::refuse_denied() {
  const auto subject = link_->take_denied_subject();
  if (subject.empty())
    return;
  for (auto& each : items_)
    if (each.now == state::sent && each.what.to.view() == subject)
      settle(each, outcome::refused, "it may not be published on " + printable(subject));
}

void jetstream_writer::look_at_time() {
  const auto now = clock::now();
  if (!link_->ready())
    return;
  if (!stream_is_there_ && now >= ask_at_)
    ask_for_stream();
  if (any_homeless_ && homeless_.empty())
    ask_for_home();
  // The oldest is the first: where it waits too long, the others are looked at, too.
  if (!items_.empty() && items_.front().now == state::sent &&
      now > items_.front().sent_at + patience)
    for (auto& each : items_)
      if (each.now == state::sent && now > each.sent_at + patience)
        put_off(each, "it does not confirm records");
}

void jetstream_writer::ask_for_home() {
  const auto found = std::ranges::find(items_, state::homeless, &item::now);
  any_homeless_ = found != items_.end();
  if (!any_homeless_)
    return;
  std::string question = R"({"subject":)";
  append_json_string(question, found->what.to);
  question += '}';
  homeless_ = found->what.to.view();
  link_->request("$JS.API.STREAM.NAMES", question, "a.names");
}

void jetstream_writer::put_off(item& x, std::string_view why) {
  if (x.now != state::again)
    ++again_;
  x.now = state::again;
  again_at_ = clock::now() + pause;
  problem_ = link_->address() + ": " + printable(why);
}

void jetstream_writer::send_what_waits() {
  if (!link_->ready() || generation_ != link_->generation() || !stream_is_there_)
    return;
  if (again_ > 0) {
    if (clock::now() < again_at_)
      return;
    for (std::size_t i = 0; i < items_.size() && again_ > 0; ++i) {
      if (items_[i].now != state::again)
        continue;
      if (!send(i))
        return;
    }
  }
  for (; next_ - first_ < items_.size(); ++next_) {
    const auto index = static_cast<std::size_t>(next_ - first_);
    if (items_[index].now == state::unsent && !send(index))
      return;
  }
}

bool jetstream_writer::send(std::size_t index) {
  if (::natsConnection_Buffered(link_->get()) >= most_buffered_bytes)
    return false;
  auto& x = items_[index];
  const auto message = message_for(index);
  const auto status =
      message ? ::natsConnection_PublishMsg(link_->get(), message.get()) : NATS_NO_MEMORY;
  if (status == NATS_MAX_PAYLOAD) {
    settle(x, outcome::refused, "larger than the server takes");
    return true;
  }
  if (status == NATS_INVALID_ARG || status == NATS_INVALID_SUBJECT) {
    settle(x, outcome::refused, ::natsStatus_GetText(status));
    return true;
  }
  if (status != NATS_OK) // the connection is gone, which `drive` sees
    return false;
  if (x.now == state::again)
    --again_;
  x.now = state::sent;
  x.sent_at = clock::now();
  if (x.first_sent_at == clock::time_point{})
    x.first_sent_at = x.sent_at;
  return true;
}

nats_ptr<natsMsg> jetstream_writer::message_for(std::size_t index) {
  auto& x = items_[index];
  auto& from = x.what.from;
  const bool has_id = from.sequence && !from.origin.empty();
  if (x.first_sent_at != clock::time_point{} &&
      (!has_id || clock::now() > x.first_sent_at + surely_remembered))
    from.redelivered = true;
  const auto reply = link_->inbox() + "r." + std::to_string(first_ + index);
  const auto payload = x.what.payload.view();
  natsMsg* made = nullptr;
  if (::natsMsg_Create(&made, x.what.to.c_str(), reply.c_str(), payload.data(),
                       static_cast<int>(payload.size())) != NATS_OK)
    return {};
  nats_ptr<natsMsg> result{made};
  const auto add = [made](const char* name, std::string_view value) {
    ::natsMsgHeader_Set(made, name, one_line(value).c_str());
  };
  if (has_id)
    add("Nats-Msg-Id", id_of(from));
  if (!stream_.empty())
    add("Nats-Expected-Stream", stream_);
  if (!x.what.key.empty())
    add("pubsub-key", x.what.key);
  for_each_header(from, [&](const char* name, std::string_view value) { add(name, value); });
  return result;
}

void jetstream_writer::settle(item& x, outcome what, std::string_view why) {
  if (x.now == state::again)
    --again_;
  x.now = state::done;
  held_bytes_ -= x.bytes;
  settled_.push_back({x.what.number, what, x.bytes, std::string{why}});
  x.what = {};
}

void jetstream_writer::forget_done() {
  while (!items_.empty() && items_.front().now == state::done) {
    items_.pop_front();
    ++first_;
  }
  next_ = std::max(next_, first_);
}

jetstream_writer::clock::time_point jetstream_writer::due() const {
  if (!settled_.empty() || !polled_)
    return clock::now();
  auto result = clock::time_point::max();
  if (link_->ready() && !stream_is_there_)
    result = std::min(result, ask_at_);
  if (again_ > 0)
    result = std::min(result, again_at_);
  if (!items_.empty() && items_.front().now == state::sent)
    result = std::min(result, items_.front().sent_at + patience);
  return result;
}

void jetstream_writer::hurry() {
  send_what_waits();
  link_->flush();
}

std::string jetstream_writer::last_problem() const {
  auto result = link_->problem();
  return result.empty() ? problem_ : result;
}

} // namespace pubsub::bridge
