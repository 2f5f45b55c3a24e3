// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/pull_consumer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <utility>

#include "base/printable.hpp"
#include "bridge/engine/json_text.hpp"

namespace pubsub::bridge {

namespace {

using namespace std::chrono_literals;

/// What a reader that has died held is given to another one after so long.
constexpr std::string_view lost_after_ns = "30000000000";
/// So often a reader says that it is still at what it holds.
constexpr auto hold_interval = 8s;
/// A consumer without a name goes when it was not asked for so long.
constexpr std::string_view idle_ns = "60000000000";
/// The server answers a request for records after so long, with those that there are.
constexpr std::string_view request_ns = "5000000000";
constexpr auto request_patience = 7s;
constexpr auto answer_patience = 2s;
constexpr auto pause_after_error = 500ms;
constexpr auto inform_interval = 500ms;
constexpr std::uint64_t consumer_not_found = 10014;
constexpr std::uint64_t stream_not_found = 10059;

/// As RFC 3339 has it, in UTC, with nanoseconds.
std::string text_of(timestamp time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const auto seconds = static_cast<std::time_t>(second.time_since_epoch().count());
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> day{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  auto fraction = std::to_string((time - second).count());
  fraction.insert(0, 9 - std::min<std::size_t>(9, fraction.size()), '0');
  return std::string{day.data()} + "." + fraction + "Z";
}

std::string_view header_of(natsMsg& message, const char* name) {
  const char* value = nullptr;
  if (::natsMsgHeader_Get(&message, name, &value) != NATS_OK || value == nullptr)
    return {};
  return value;
}

fetched_record record_of(natsMsg& message, const delivery& about) {
  constexpr std::array names{"pubsub-topic",   "pubsub-origin", "pubsub-sequence",
                             "pubsub-network", "pubsub-format", "pubsub-redelivered",
                             "pubsub-reason",  "pubsub-part"};
  fetched_record result;
  result.to = ::natsMsg_GetSubject(&message);
  result.payload = payload_of(&message);
  result.key = header_of(message, "pubsub-key");
  for (const auto* name : names) {
    const char* value = nullptr;
    if (::natsMsgHeader_Get(&message, name, &value) == NATS_OK && value != nullptr)
      read_header(result.from, name, value);
  }
  result.again = about.times > 1;
  return result;
}

} // namespace

pull_consumer::pull_consumer(pull_options options, std::size_t index)
    : options_(std::move(options)), answers_prefix_("a" + std::to_string(index)),
      records_prefix_("m" + std::to_string(index)), name_(options_.durable) {}

void pull_consumer::begin(nats_link& link) {
  answers_ = link.subscribe(answers_prefix_);
  records_ = link.subscribe(records_prefix_);
  if (!answers_ || !records_)
    return link.drop("it takes no subscriptions");
  start_over();
}

void pull_consumer::start_over() {
  now_ = phase::looking;
  ask_at_ = {};
  asked_ = 0;
  being_acknowledged_ = 0;
  informed_ = false;
}

void pull_consumer::again_later(std::string why) {
  start_over();
  problem_ = std::move(why);
  ask_at_ = clock::now() + pause_after_error;
}

std::string pull_consumer::api(std::string_view verb) const {
  return "$JS.API.CONSUMER." + std::string{verb} + "." + options_.stream;
}

void pull_consumer::step(nats_link& link, std::size_t max) {
  while (const next_message answer{answers_.get()})
    if (answer.message)
      take_answer(link, *answer.message);
    else
      again_later("it does not answer for JetStream, or the consumer is gone");
  while (const next_message one{records_.get()})
    if (one.message)
      take_message(*one.message);
    else
      again_later("the consumer is gone");
  const auto now = clock::now();
  if (!link.ready() || failure_ || now < ask_at_)
    return;
  if (now_ != phase::ready) // begins, or the last answer has not come
    return look(link);
  pull(link, max);
  if (now >= inform_at_) {
    inform_at_ = now + inform_interval;
    link.request(api("INFO") + "." + name_, {}, answers_prefix_ + ".look");
  }
  if (now >= hold_at_)
    hold_on(link);
}

void pull_consumer::look(nats_link& link) {
  ask_at_ = clock::now() + answer_patience;
  now_ = phase::looking;
  if (is_durable())
    link.request(api("INFO") + "." + name_, {}, answers_prefix_ + ".look");
  else
    make(link);
}

void pull_consumer::make(nats_link& link) {
  now_ = phase::making;
  ask_at_ = clock::now() + answer_patience;
  const auto place = is_durable() ? api("DURABLE.CREATE") + "." + name_ : api("CREATE");
  link.request(place, configuration(), answers_prefix_ + ".make");
}

std::string pull_consumer::configuration() const {
  std::string result = R"({"stream_name":)";
  append_json_string(result, options_.stream);
  result += R"(,"config":{"replay_policy":"instant")";
  if (is_durable()) {
    result += R"(,"durable_name":)";
    append_json_string(result, options_.durable);
    result += R"(,"ack_policy":"explicit","max_ack_pending":-1,"max_deliver":-1,"ack_wait":)";
    result += lost_after_ns;
  } else {
    result += R"(,"ack_policy":"none","mem_storage":true,"inactive_threshold":)";
    result += idle_ns;
  }
  if (!options_.filter.empty()) {
    result += R"(,"filter_subject":)";
    append_json_string(result, options_.filter);
  }
  // Where there was a consumer before, the next one goes on.
  const auto begin = begun_ ? std::string{"by_start_sequence"} : options_.begin;
  result += R"(,"deliver_policy":")" + begin + '"';
  if (begun_)
    result += R"(,"opt_start_seq":)" + std::to_string(last_sequence_ + 1);
  else if (begin == "by_start_sequence")
    result += R"(,"opt_start_seq":)" + std::to_string(options_.sequence);
  else if (begin == "by_start_time")
    result += R"(,"opt_start_time":")" + text_of(options_.time) + '"';
  return result + "}}";
}

void pull_consumer::take_answer(nats_link& link, natsMsg& answer) {
  const std::string_view subject = ::natsMsg_GetSubject(&answer);
  const auto token = subject.substr(subject.rfind('.') + 1);
  if (token.starts_with("ack"))
    return take_acknowledged(token.substr(3));
  const auto reply = parser_.parse(payload_of(&answer));
  if (!reply)
    return again_later("it does not answer for JetStream; is it on?");
  if (reply->error)
    return take_error(link, *reply->error);
  if (token == "removed") {
    begun_ = false;
    last_sequence_ = 0;
    return make(link);
  }
  if (!reply->is_consumer)
    return again_later("an answer that is none of JetStream");
  take_looked(link, *reply);
}

void pull_consumer::take_looked(nats_link& link, const api_reply& reply) {
  if (now_ == phase::looking && options_.begin_anew && !begun_) {
    now_ = phase::removing;
    ask_at_ = clock::now() + answer_patience;
    link.request(api("DELETE") + "." + name_, {}, answers_prefix_ + ".removed");
    return;
  }
  if (now_ == phase::making) {
    last_delivery_ = reply.delivered;
    if (!begun_ && options_.begin == "new") // what comes while there is no connection is wanted
      last_sequence_ = std::max(last_sequence_, reply.delivered_record);
  }
  if (now_ == phase::removing)
    return;
  if (now_ != phase::ready) {
    now_ = phase::ready;
    ask_at_ = {};
    asked_ = 0;
    problem_.clear();
    begun_ = begun_ || is_durable() || last_sequence_ > 0;
  }
  name_ = reply.name;
  pending_ = reply.pending;
  unacknowledged_ = reply.unacknowledged;
  delivered_ = reply.delivered;
  informed_ = true;
}

void pull_consumer::take_error(nats_link& link, const api_error& what) {
  if (what.number == consumer_not_found && is_durable()) {
    if (!held_.empty()) { // the new one is to give out again what was not acknowledged
      last_sequence_ = std::ranges::min(held_, {}, &held::sequence).sequence - 1;
      held_.clear();
      waiting_.clear();
      given_ = 0;
      being_acknowledged_ = 0;
    }
    return make(link);
  }
  if (what.code == 400 && what.number != stream_not_found)
    failure_ = {errc::invalid_argument, "the consumer of " + options_.stream + ": " + what.text};
  again_later(options_.stream + ": " + what.text);
}

void pull_consumer::take_message(natsMsg& message) {
  const char* answer = ::natsMsg_GetReply(&message);
  const auto about = answer == nullptr ? std::nullopt : parse_delivery(answer);
  if (!about)
    return take_status(message);
  if (asked_ > 0)
    --asked_;
  pending_ = about->pending;
  delivered_ = std::max(delivered_, about->consumer_sequence);
  if (!is_durable() && about->consumer_sequence != last_delivery_ + 1) {
    if (now_ == phase::ready) // something was lost: another consumer goes on behind the last one
      again_later("deliveries are missing");
    return;
  }
  last_delivery_ = about->consumer_sequence;
  if (is_durable() && about->times > 1 && is_held_already(*about, answer))
    return;
  last_sequence_ = std::max(last_sequence_, about->stream_sequence);
  begun_ = true;
  waiting_.push_back(record_of(message, *about));
  if (is_durable()) {
    held_.push_back({about->stream_sequence, answer, clock::now()});
    ++unacknowledged_;
  }
}

/// The server thought that it was lost; from now on the other subject counts.
bool pull_consumer::is_held_already(const delivery& about, const char* answer) {
  const auto found = std::ranges::find(held_, about.stream_sequence, &held::sequence);
  if (found == held_.end())
    return false;
  found->answer = answer;
  found->since = clock::now();
  return true;
}

void pull_consumer::take_status(natsMsg& message) {
  const auto status = header_of(message, "Status");
  if (status == "100") // it is there
    return;
  if (status == "409" && header_of(message, "Description").find("eleted") != std::string_view::npos)
    return again_later("the consumer is gone");
  std::size_t rest = 0;
  const auto text = header_of(message, "Nats-Pending-Messages");
  if (std::from_chars(text.data(), text.data() + text.size(), rest).ec == std::errc{} &&
      !text.empty())
    asked_ -= std::min(asked_, rest);
  else
    asked_ = 0;
  if (status != "404" && status != "408") // such as too many that are not acknowledged
    ask_at_ = clock::now() + 20ms;
}

void pull_consumer::pull(nats_link& link, std::size_t max) {
  const auto now = clock::now();
  if (asked_ > 0 && now > asked_at_ + request_patience)
    asked_ = 0;
  const auto on_the_way = asked_ + waiting_.size();
  if (max == 0 || on_the_way > max / 2)
    return;
  const auto wanted = max - on_the_way;
  const auto question =
      R"({"batch":)" + std::to_string(wanted) + R"(,"expires":)" + std::string{request_ns} + "}";
  if (link.request(api("MSG.NEXT") + "." + name_, question, records_prefix_ + ".next")) {
    asked_ += wanted;
    asked_at_ = now;
  }
}

void pull_consumer::hold_on(nats_link& link) {
  const auto now = clock::now();
  hold_at_ = now + hold_interval / 2;
  for (auto& each : held_) {
    if (now < each.since + hold_interval)
      continue;
    ::natsConnection_Publish(link.get(), each.answer.c_str(), "+WPI", 4);
    each.since = now;
  }
}

void pull_consumer::give_out(std::vector<fetched_record>& out, std::size_t max) {
  for (; max > 0 && !waiting_.empty(); --max) {
    out.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    if (is_durable())
      ++given_;
  }
}

/// One after the other; the last one is to be answered, which it is when the others are done.
void pull_consumer::acknowledge(nats_link& link) {
  const auto now = clock::now();
  const bool asked = being_acknowledged_ > 0 && now < acknowledged_at_ + answer_patience;
  if (!link.ready() || now_ != phase::ready || given_ == 0 || asked)
    return;
  for (std::size_t i = 0; i + 1 < given_; ++i)
    if (::natsConnection_Publish(link.get(), held_[i].answer.c_str(), "+ACK", 4) != NATS_OK)
      return;
  const auto token = ".ack" + std::to_string(++acknowledgement_);
  if (link.request(held_[given_ - 1].answer, "+ACK", answers_prefix_ + token)) {
    being_acknowledged_ = given_;
    acknowledged_at_ = now;
  }
}

void pull_consumer::take_acknowledged(std::string_view token) {
  if (token != std::to_string(acknowledgement_)) // it was sent again since
    return;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(being_acknowledged_));
  given_ -= being_acknowledged_;
  unacknowledged_ -= std::min<std::uint64_t>(unacknowledged_, being_acknowledged_);
  being_acknowledged_ = 0;
}

void pull_consumer::give_back(nats_link& link) {
  if (link.ready())
    for (const auto& each : held_)
      ::natsConnection_Publish(link.get(), each.answer.c_str(), "-NAK", 4);
}

bool pull_consumer::at_end() const noexcept {
  if (now_ != phase::ready || !informed_ || pending_ > 0 || !waiting_.empty())
    return false;
  return is_durable() ? unacknowledged_ <= held_.size() : delivered_ <= last_delivery_;
}

} // namespace pubsub::bridge
