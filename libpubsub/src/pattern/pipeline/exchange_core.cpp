#include "pattern/pipeline/exchange_core.hpp"

#include <algorithm>
#include <limits>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::chrono::nanoseconds time_between_own_looks = 50ms;
constexpr auto time_between_invitations = 250ms;
constexpr std::chrono::nanoseconds longest_held_back = 1ms;
constexpr auto time_of_a_burst = 5ms; // who sends again within it gets company for his tasks
constexpr std::chrono::nanoseconds longest_wait = 50ms;    // without a look whether it is closed
constexpr std::size_t handful = 256;                       // tasks that are added at a time
constexpr std::size_t handful_bytes = 16 * 1024;           // or fewer
constexpr std::chrono::nanoseconds time_for_senders = 5ms; // since one of them waited
constexpr std::chrono::nanoseconds too_close_to_tell = 1s; // between ages
constexpr std::size_t results_at_once = 64;

error check(const exchange_options& options) {
  if (options.window_tasks == 0)
    return {errc::invalid_argument, "a window has room for one task at least"};
  if (options.max_losses == 0)
    return {errc::invalid_argument, "max_losses is at least 1"};
  return {};
}

} // namespace

exchange_core::exchange_core(endpoint& at, std::string_view name, const exchange_options& options)
    : at_(at), options_(options), name_(name),
      named_topic_(name.empty() ? std::string{}
                                : topic_of_exchange_name(name_in(at, options_.scope, name))),
      in_(at.make_subscriber(name.empty() ? filter{topic_of_exchange(id_)}
                                          : filter{topic_of_exchange(id_), named_topic_})),
      books_(options_), progress_(at.make_publisher(topic_of_progress(id_))) {
  if (!options_.dead_letters.empty()) {
    exchange_options last;
    last.scope = options_.scope;
    dead_letters_ = std::make_shared<exchange_core>(at, "", last);
    dead_letters_->bind(options_.dead_letters);
  }
  if (!named_topic_.empty())
    to_namesakes_.emplace(at.make_publisher(named_topic_));
  failure_ = check(options_);
  closed_ = static_cast<bool>(failure_);
  if (!closed_)
    service_ = std::thread{[this] { run(); }};
}

void exchange_core::bind(std::string_view queue_name) {
  const auto topic = topic_of_queue_name(name_in(at_, options_.scope, queue_name));
  lock_type lock{mutex_};
  if (closed_)
    return;
  to_names_.try_emplace(topic, at_.make_publisher(topic));
  invite();
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
    next_number_ += add({.source = id_, .number = next_number_}, values, handful);
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
    books_.flush(); // no other result will come to keep it company
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
  most = std::min({most, books_.room(), handful});
  ends_.clear();
  std::size_t end = 0;
  while (ends_.size() < most && end < std::min(values.size(), handful_bytes))
    ends_.push_back(end += data_view::from_valid(values.subspan(end)).bytes().size());
  kind.values = values.first(end);
  kind.ends = ends_;
  values = values.subspan(end);
  if (books_.add(kind))
    begin_batch();
  share_out();
  return ends_.size();
}

/// Called with the mutex held. False if there is none at the end of the timeout, or once closed.
bool exchange_core::await_room(lock_type& lock, std::optional<std::chrono::nanoseconds> timeout) {
  if (!books_.has_room())
    return wait(lock, limit_after(timeout), [&] { return books_.has_room(); });
  return !closed_;
}

/// Called with the mutex held. What comes after a pause does not wait for company.
void exchange_core::begin_batch() {
  const auto now = clock::now();
  if (now - std::exchange(last_opened_, now) > time_of_a_burst)
    books_.flush();
}

/// Called with the mutex held. Who waits reads: what he waits for would reach him later from
/// another thread. False at `until`, or once closed.
template <class Condition>
bool exchange_core::wait(lock_type& lock, time_limit until, Condition&& met) {
  books_.flush();
  share_out();
  while (!closed_ && !met()) {
    const auto now = clock::now();
    if (until && now >= *until)
      return false;
    const auto patience =
        until ? std::min<std::chrono::nanoseconds>(*until - now, longest_wait) : longest_wait;
    senders_read_until_ = now + patience + time_for_senders;
    if (reading_)
      read_.wait_for(lock, patience);
    else
      read(lock, patience);
  }
  senders_read_until_ = clock::now() + time_for_senders;
  return !closed_;
}

/// Called with the mutex held. What a link does not take now is sent again later, as if it had been
/// lost on the way.
void exchange_core::share_out() {
  if (!books_.may_send())
    return;
  const auto now = clock::now();
  while (auto next = books_.next(now)) {
    scratch_.clear();
    write_tasks(scratch_, {id_, next->first, next->settled, next->urgent}, *next->tasks);
    link_to(next->queue).out.publish_encoded(scratch_.bytes(), 0ns);
  }
}

exchange_core::queue_link& exchange_core::link_to(const endpoint_id& queue) {
  auto found = to_queues_.find(queue);
  if (found == to_queues_.end())
    found = to_queues_.emplace(queue, queue_link{at_.make_publisher(topic_of_queue(queue))}).first;
  return found->second;
}

void exchange_core::flush() {
  lock_type lock{mutex_};
  books_.flush();
  share_out();
}

std::size_t exchange_core::drain(std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  wait(lock, limit_after(timeout), [&] { return books_.in_flight() == 0; });
  return books_.in_flight();
}

// -- hearing -------------------------------------------------------------------------------------

void exchange_core::run() {
  auto next_look = clock::now();
  auto next_invitation = next_look;
  lock_type lock{mutex_};
  while (!closed_) {
    const auto opened = last_opened_;
    listen(lock, next_look);
    const auto now = clock::now();
    if (opened == last_opened_ || now >= next_look)
      books_.flush(); // nothing has come to keep it company
    if (now >= next_look) {
      look_after_queues(now);
      tell_progress();
      next_look = now + time_between_own_looks;
    }
    if (now >= next_invitation) {
      claim_name();
      invite();
      next_invitation = now + time_between_invitations;
    }
    share_out();
    bury(lock);
  }
}

/// Called with the mutex held, by the thread of our own: reads unless senders do.
void exchange_core::listen(lock_type& lock, time until) {
  const auto now = clock::now();
  if (reading_ || now < senders_read_until_)
    service_wanted_.wait_until(
        lock, std::min(until, std::max(senders_read_until_, now + longest_held_back)));
  else
    read(lock, now < last_opened_ + time_of_a_burst ? longest_held_back : time_between_own_looks);
}

/// Called with the mutex held, which is released while there is nothing.
void exchange_core::read(lock_type& lock, std::chrono::nanoseconds limit) {
  reading_ = true;
  lock.unlock();
  batch_.clear();
  in_.get_batch(batch_, results_at_once, limit);
  lock.lock();
  const auto now = clock::now();
  for (const auto& each : batch_)
    receive(each, now);
  if (!batch_.empty() && books_.leaves_someone_idle())
    books_.flush();
  if (!batch_.empty())
    share_out();
  acknowledge(lock);
  reading_ = false;
  read_.notify_all();
}

/// Called with the mutex held. What is no message of ours is passed over.
void exchange_core::receive(const data_message& msg, time now) {
  const auto value = get_view(msg);
  if (const auto report = parse_report(value)) {
    auto& link = link_to(report->queue);
    books_.receive(*report, now);
    if (get_topic(msg) == named_topic_)
      welcome(link);
  } else if (const auto ended = parse_completion(value)) {
    for (const auto& each : ended->numbers)
      books_.complete(each);
  } else if (const auto other = parse_claim(value)) {
    contest(*other);
  }
}

/// Called with the mutex held. A queue has called for exchanges of our name: it gets to know one.
void exchange_core::welcome(queue_link& queue) {
  scratch_.clear();
  write_invitation(scratch_, {id_});
  queue.out.publish_encoded(scratch_.bytes(), 0ns);
}

/// Called with the mutex held, which is released meanwhile.
void exchange_core::acknowledge(lock_type& lock) {
  const auto done = books_.take_done();
  if (done.empty())
    return;
  struct news {
    std::shared_ptr<task_queue_core> queue;
    std::vector<number_run> places;
  };
  std::map<std::pair<endpoint_id, bool>, news> to_tell; // by exchange, and whether it is direct
  for (const auto& each : done) {
    auto& its = to_tell[{each.exchange, each.direct}];
    its.queue = upstream_[each.exchange];
    its.places.push_back({each.first, each.count});
  }
  lock.unlock();
  for (const auto& [from, its] : to_tell)
    if (its.queue)
      its.queue->done(from.first, its.places, from.second);
  lock.lock();
}

/// Called with the mutex held, which is released meanwhile.
void exchange_core::bury(lock_type& lock) {
  const auto dead = books_.take_dead();
  if (dead.empty() || !dead_letters_)
    return;
  lock.unlock();
  for (const auto& each : dead)
    dead_letters_->send_dead(*each);
  lock.lock();
}

void exchange_core::send_dead(const task_batch& single) {
  lock_type lock{mutex_};
  if (closed_ || !books_.has_room()) // nobody reads them: the counters tell how many there were
    return;
  auto value = single.values.bytes();
  const auto number = single.numbers.runs().front().first;
  add({.source = single.source, .number = number, .redelivered = true}, value, 1);
  books_.flush();
  share_out();
}

/// Called with the mutex held.
void exchange_core::look_after_queues(time now) {
  auto lost = books_.silent_since(now - options_.silence);
  for (auto& [id, link] : to_queues_) {
    const bool there = link.out.subscribers() > 0;
    if (link.seen && !there)
      lost.push_back(id);
    link.seen = link.seen || there;
  }
  for (const auto& id : lost) {
    books_.lose(id);
    to_queues_.erase(id);
  }
}

/// Called with the mutex held.
void exchange_core::invite() {
  scratch_.clear();
  write_invitation(scratch_, {id_});
  for (auto& [name, out] : to_names_)
    out.publish_encoded(scratch_.bytes(), 0ns);
}

/// Called with the mutex held: again and again, for a namesake may have come.
void exchange_core::claim_name() {
  if (!to_namesakes_)
    return;
  scratch_.clear();
  write_claim(scratch_, {id_, static_cast<std::uint64_t>((clock::now() - begun_).count())});
  to_namesakes_->publish_encoded(scratch_.bytes(), 0ns);
}

/// Called with the mutex held. Of two exchanges of a name the younger one closes; where they differ
/// by less than a message may take, the one with the larger id.
void exchange_core::contest(const claim& other) {
  if (closed_ || other.exchange == id_)
    return;
  const auto age = clock::now() - begun_;
  const auto difference =
      age - std::chrono::nanoseconds{static_cast<std::int64_t>(
                std::min<std::uint64_t>(other.age_ns, std::numeric_limits<std::int64_t>::max()))};
  const bool same_age = std::chrono::abs(difference) < too_close_to_tell;
  if (same_age ? id_ < other.exchange : difference > 0ns) {
    claim_name(); // it may not have heard of us
    return;
  }
  failure_ = {errc::invalid_argument,
              "another exchange is named '" + name_ + "': " + to_string(other.exchange)};
  closed_ = true;
}

/// Called with the mutex held: again and again, for somebody may have begun to listen.
void exchange_core::tell_progress() {
  if (next_number_ == 0)
    return;
  scratch_.clear();
  write_progress(scratch_, {id_, books_.settled_below()});
  progress_.publish_encoded(scratch_.bytes(), 0ns);
}

// -- looking -------------------------------------------------------------------------------------

bool exchange_core::wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  return wait(lock, limit_after(timeout), [&] { return books_.queues().size() >= n; });
}

std::size_t exchange_core::queues() const {
  lock_type lock{mutex_};
  return books_.queues().size();
}

exchange_counters exchange_core::counters() const {
  lock_type lock{mutex_};
  return books_.counters();
}

std::size_t exchange_core::in_flight() const {
  lock_type lock{mutex_};
  return books_.in_flight();
}

void exchange_core::close() {
  {
    lock_type lock{mutex_};
    closed_ = true;
  }
  read_.notify_all();
  service_wanted_.notify_all();
  in_.close();
  if (service_.joinable())
    service_.join();
  if (dead_letters_)
    dead_letters_->close();
}

} // namespace pubsub::pattern
