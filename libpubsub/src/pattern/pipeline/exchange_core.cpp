#include "pattern/pipeline/exchange_core.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "pattern/pipeline/tuning.hpp"

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

error check(const exchange_options& options) {
  if (options.window_tasks == 0)
    return {errc::invalid_argument, "a window has room for one task at least"};
  if (options.max_losses == 0)
    return {errc::invalid_argument, "max_losses is at least 1"};
  return {};
}

} // namespace

exchange_core::exchange_core(std::shared_ptr<endpoint> at, std::string_view name,
                             const exchange_options& options)
    : options_(options), name_(name),
      named_topic_(name.empty() ? std::string{}
                                : topic_of_exchange_name(prefix_of(*at, options_.scope) + name_)),
      scope_(prefix_of(*at, options_.scope)), dispatch_(options_), queues_(at, topic_of_queue),
      invitations_(at), claims_(at), progress_(at->make_publisher(topic_of_progress(id_))),
      failure_(check(options)) {
  if (!options_.dead_letters.empty()) {
    exchange_options last;
    last.scope = options_.scope;
    dead_letters_ = std::make_shared<exchange_core>(at, "", last);
    dead_letters_->bind(options_.dead_letters);
  }
  filter topics{topic_of_exchange(id_)};
  if (!named_topic_.empty()) {
    claims_.add(named_topic_);
    topics.add(named_topic_);
  }
  closed_ = static_cast<bool>(failure_);
  if (!closed_)
    start(at->make_subscriber(topics));
}

void exchange_core::bind(std::string_view queue_name) {
  const lock_type lock{mutex_};
  if (closed_)
    return;
  invitations_.add(topic_of_queue_name(scope_ + std::string{queue_name}));
  invite(clock::now());
}

// -- sending -------------------------------------------------------------------------------------

bool exchange_core::send(std::span<const std::byte> value,
                         std::optional<std::chrono::nanoseconds> timeout) {
  lock_type lock{mutex_};
  if (!await_room(lock, timeout))
    return false;
  next_number_ += add({.source = id_, .number = next_number_}, value, 1);
  return true;
}

bool exchange_core::send_batch(std::span<const std::byte> values) {
  lock_type lock{mutex_};
  while (!values.empty()) {
    if (!await_room(lock, {}))
      return false;
    next_number_ += add({.source = id_, .number = next_number_}, values, tuning::handful);
  }
  return true;
}

std::size_t exchange_core::send_results(std::span<const std::byte> values,
                                        std::span<const task_marks> of) {
  const bool last_of_all = !of.empty() && of.back().from->queue->available() == 0;
  std::size_t sent = 0;
  lock_type lock{mutex_};
  for (const auto& each : of)
    for (std::uint64_t i = 0; i < each.places.count;) {
      if (values.empty() || !await_room(lock, {}))
        return sent;
      const auto n = add_results(values, each, i);
      i += n;
      sent += n;
    }
  if (last_of_all)
    dispatch_.flush(); // no other result will come to keep it company
  share_out();
  return sent;
}

/// Called with the mutex held, while there is room: those from `first` on.
std::size_t exchange_core::add_results(std::span<const std::byte>& values, const task_marks& of,
                                       std::uint64_t first) {
  const auto& from = *of.from;
  if (from.exchange != last_upstream_) {
    upstream_[from.exchange] = from.queue;
    last_upstream_ = from.exchange;
  }
  return add({.source = from.source,
              .number = of.first_number + first,
              .redelivered = from.redelivered,
              .upstream = {from.exchange, of.places.first + first, from.direct}},
             values, static_cast<std::size_t>(of.places.count - first));
}

/// Called with the mutex held, while there is room: takes values from the front, a handful, and
/// sends what is due. Returns how many.
std::size_t exchange_core::add(new_tasks kind, std::span<const std::byte>& values,
                               std::size_t most) {
  most = std::min({most, dispatch_.room(), tuning::handful});
  ends_.clear();
  std::size_t end = 0;
  while (ends_.size() < most && end < std::min(values.size(), tuning::handful_bytes))
    ends_.push_back(end += data_view::from_valid(values.subspan(end)).bytes().size());
  kind.values = values.first(end);
  kind.ends = ends_;
  values = values.subspan(end);
  if (dispatch_.add(kind))
    begin_batch();
  share_out();
  return ends_.size();
}

/// Called with the mutex held. False if there is none at the end of the timeout, or once closed.
bool exchange_core::await_room(lock_type& lock, std::optional<std::chrono::nanoseconds> timeout) {
  if (!dispatch_.has_room())
    return flush_and_wait(lock, limit_after(timeout), [&] { return dispatch_.has_room(); });
  return !closed_;
}

/// Called with the mutex held. What comes after a pause does not wait for company.
void exchange_core::begin_batch() {
  const auto now = clock::now();
  if (now - std::exchange(last_opened_, now) > tuning::burst)
    dispatch_.flush();
}

/// Called with the mutex held. What a link does not take now is sent again later, as if it had been
/// lost on the way.
void exchange_core::share_out() {
  if (!dispatch_.may_send())
    return;
  const auto now = clock::now();
  while (auto next = dispatch_.next(now)) {
    scratch_.clear();
    write_tasks(scratch_, {id_, next->first, next->settled, next->urgent}, *next->tasks);
    queues_[next->queue].send(scratch_.bytes());
  }
}

void exchange_core::flush() {
  lock_type lock{mutex_};
  dispatch_.flush();
  share_out();
}

std::size_t exchange_core::drain(std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  flush_and_wait(lock, limit_after(timeout), [&] { return dispatch_.in_flight() == 0; });
  return dispatch_.in_flight();
}

// -- hearing -------------------------------------------------------------------------------------

void exchange_core::take(std::span<data_message> messages, time now) {
  for (const auto& each : messages)
    receive(each, now);
  if (!messages.empty()) {
    if (dispatch_.leaves_someone_idle())
      dispatch_.flush();
    share_out();
  }
}

void exchange_core::tick(time now) {
  if (now - last_opened_ >= tuning::longest_held_back)
    dispatch_.flush(); // no other task has come to travel with these
  if (now >= next_look_) {
    look_after_queues(now);
    publish_progress();
    next_look_ = now + tuning::time_between_looks;
  }
  if (claims_.is_due(now))
    claim_name(now);
  if (invitations_.is_due(now))
    invite(now);
  share_out();
}

void exchange_core::pass_on(lock_type& lock) {
  acknowledge(lock);
  send_dead_letters(lock);
}

mailbox::time exchange_core::next_tick() const {
  const auto next = std::min({next_look_, claims_.next(), invitations_.next()});
  return dispatch_.holds_back() ? std::min(next, last_opened_ + tuning::longest_held_back) : next;
}

/// Called with the mutex held. Messages of other kinds are passed over.
void exchange_core::receive(const data_message& msg, time now) {
  const auto value = get_view(msg);
  if (const auto report = parse_report(value)) {
    dispatch_.receive(*report, now);
    if (get_topic(msg) == named_topic_)
      welcome(report->queue);
  } else if (const auto ended = parse_completion(value)) {
    for (const auto& each : ended->numbers)
      dispatch_.complete(each);
  } else if (const auto other = parse_claim(value)) {
    contest(*other, now);
  }
}

/// Called with the mutex held. A queue has called for exchanges of this name.
void exchange_core::welcome(const endpoint_id& queue) {
  scratch_.clear();
  write_invitation(scratch_, {id_});
  queues_[queue].send(scratch_.bytes());
}

/// Called with the mutex held, which is released meanwhile: tells the queues that tasks came from
/// that their results are done. Senders need not wait for what that takes.
void exchange_core::acknowledge(lock_type& lock) {
  const auto done = dispatch_.take_done();
  if (done.empty())
    return;
  struct places_done {
    std::shared_ptr<task_queue_core> queue;
    std::vector<number_run> places;
  };
  std::map<std::pair<endpoint_id, bool>, places_done> all; // by exchange, and whether it is direct
  for (const auto& each : done) {
    auto& its = all[{each.exchange, each.direct}];
    its.queue = upstream_[each.exchange];
    its.places.push_back({each.first, each.count});
  }
  lock.unlock();
  for (const auto& [from, its] : all)
    if (its.queue)
      its.queue->done(from.first, its.places, from.second);
  lock.lock();
}

/// Called with the mutex held, which is released meanwhile.
void exchange_core::send_dead_letters(lock_type& lock) {
  const auto dead = dispatch_.take_dead();
  if (dead.empty() || !dead_letters_)
    return;
  lock.unlock();
  for (const auto& each : dead)
    dead_letters_->send_dead(*each);
  lock.lock();
}

void exchange_core::send_dead(const task_batch& single) {
  const lock_type lock{mutex_};
  if (closed_ ||
      !dispatch_.has_room()) // no queue reads them: the counters tell how many there were
    return;
  auto value = single.values.bytes();
  const auto number = single.numbers.runs().front().first;
  add({.source = single.source, .number = number, .redelivered = true}, value, 1);
  dispatch_.flush();
  share_out();
}

/// Called with the mutex held.
void exchange_core::look_after_queues(time now) {
  auto lost = dispatch_.silent_since(now - options_.silence);
  std::ranges::copy(queues_.find_gone(now), std::back_inserter(lost));
  for (const auto& id : lost) {
    dispatch_.lose(id);
    queues_.erase(id);
  }
}

/// Called with the mutex held.
void exchange_core::invite(time now) {
  scratch_.clear();
  write_invitation(scratch_, {id_});
  invitations_.announce(scratch_.bytes(), now);
}

/// Called with the mutex held.
void exchange_core::claim_name(time now) {
  scratch_.clear();
  write_claim(scratch_, {id_, static_cast<std::uint64_t>((now - begun_).count())});
  claims_.announce(scratch_.bytes(), now);
}

/// Called with the mutex held. Of two exchanges of a name the younger one closes; where they differ
/// by less than a message may take, the one with the larger id.
void exchange_core::contest(const claim& other, time now) {
  if (closed_ || other.exchange == id_)
    return;
  const auto difference =
      now - begun_ -
      std::chrono::nanoseconds{static_cast<std::int64_t>(
          std::min<std::uint64_t>(other.age_ns, std::numeric_limits<std::int64_t>::max()))};
  const bool same_age = std::chrono::abs(difference) < tuning::same_age;
  if (same_age ? id_ < other.exchange : difference > 0ns) {
    claim_name(now); // it may not have heard of this one
    return;
  }
  failure_ = {errc::invalid_argument,
              "another exchange is named '" + name_ + "': " + to_string(other.exchange)};
  end();
}

/// Called with the mutex held: again and again, for a sink may have begun to listen.
void exchange_core::publish_progress() {
  if (next_number_ == 0)
    return;
  scratch_.clear();
  write_progress(scratch_, {id_, dispatch_.settled_below()});
  (void)progress_.try_publish(scratch_.bytes());
}

// -- looking -------------------------------------------------------------------------------------

bool exchange_core::wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  return flush_and_wait(lock, limit_after(timeout), [&] { return dispatch_.queues().size() >= n; });
}

std::size_t exchange_core::queues() const {
  lock_type lock{mutex_};
  return dispatch_.queues().size();
}

exchange_counters exchange_core::counters() const {
  lock_type lock{mutex_};
  return dispatch_.counters();
}

std::size_t exchange_core::in_flight() const {
  lock_type lock{mutex_};
  return dispatch_.in_flight();
}

bool exchange_core::closed() const {
  const lock_type lock{mutex_};
  return closed_;
}

error exchange_core::failure() const {
  const lock_type lock{mutex_};
  return failure_;
}

void exchange_core::close() {
  stop();
  if (dead_letters_)
    dead_letters_->close();
}

} // namespace pubsub::pattern
