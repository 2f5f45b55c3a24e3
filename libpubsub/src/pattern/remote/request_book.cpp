#include "pattern/remote/request_book.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;

constexpr auto time_between_ticks = 20ms;
constexpr auto time_between_tries = 1ms; // where a link was full
constexpr auto time_between_choices = 2ms;
constexpr auto time_for_company = 200us;
constexpr std::size_t most_bytes_together = 16 * 1024; // all have to come before the first begins
constexpr std::uint64_t most_workers = 10'000;         // that an instance may claim

std::string listed(const auto& operations) {
  std::string result;
  for (const auto& each : operations)
    result += (result.empty() ? "'" : ", '") + each.first + "'";
  return result.empty() ? "none" : result;
}

} // namespace

request_book::request_book(const endpoint_id& id, std::string service_name,
                           const remote_options& options, remote_port& port)
    : id_(id), service_name_(std::move(service_name)), options_(options), port_(port),
      plan_(fixed_plan(options)) {}

// -- calls ---------------------------------------------------------------------------------------

std::uint32_t request_book::index_of(std::string_view operation) {
  const auto found = index_.find(operation);
  if (found != index_.end())
    return found->second;
  const auto result = static_cast<std::uint32_t>(operations_.size());
  operations_.emplace_back(operation);
  index_.emplace(operation, result);
  return result;
}

remote_conditions request_book::conditions(std::string_view operation) const {
  const auto found = index_.find(operation);
  return found == index_.end() ? conditions() : meter_.conditions(found->second);
}

request_book::call_ptr request_book::add(std::string_view operation,
                                         std::span<const std::byte> argument, time deadline,
                                         time now) {
  auto call = std::make_shared<remote_call>();
  ++counters_.submitted;
  const auto number = call->number =
      entries_.add({call, index_of(operation), stage::waiting, 0, deadline, {}, {}, 0});
  auto& its = *entries_.find(number);
  if (argument.size() > options_.max_request_bytes) {
    fail(its, {errc::limit_exceeded, "an argument of " + std::to_string(argument.size()) +
                                         " bytes is longer than max_request_bytes, " +
                                         std::to_string(options_.max_request_bytes)});
    return call;
  }
  its.argument.assign(reinterpret_cast<const char*>(argument.data()), argument.size());
  if (queue_.empty())
    waiting_since_ = now;
  queue_.push_back(number);
  next_deadline_ = std::min(next_deadline_, deadline);
  next_tick_ = std::min({next_tick_, next_deadline_, now + time_between_ticks});
  return call;
}

/// It is given up: nobody may use it any more.
void request_book::finish(entry& what, pubsub::error why, std::uint64_t& counter) {
  ++counter;
  const auto call = std::move(what.call);
  entries_.erase(call->number);
  call->error = std::move(why);
  call->done.store(true, std::memory_order_release);
  for (const auto& each : std::exchange(call->then, {}))
    each();
}

void request_book::fail(entry& what, pubsub::error why) {
  finish(what, std::move(why), counters_.failed);
}

void request_book::finish_answered(entry& what) {
  auto& counter = what.call->error ? counters_.failed : counters_.done;
  finish(what, std::move(what.call->error), counter);
}

/// What was answered completes once all before it are complete.
void request_book::finish_in_turn() {
  for (; next_in_turn_ < entries_.end(); ++next_in_turn_) {
    auto* its = entries_.find(next_in_turn_);
    if (its != nullptr && its->at != stage::answered)
      return;
    if (its != nullptr)
      finish_answered(*its);
  }
}

bool request_book::cancel(remote_call& call, time now) {
  auto* its = entries_.find(call.number);
  if (its == nullptr || its->call.get() != &call)
    return false;
  release(*its);
  fail(*its, {errc::cancelled});
  finish_in_turn();
  send(now);
  return true;
}

/// The instance that has it, if one has, is told, and is not waited for any more.
void request_book::release(entry& what) {
  const auto at = what.at == stage::asked ? instances_.find(what.instance) : instances_.end();
  if (at == instances_.end())
    return;
  ++at->second.late;
  scratch_.clear();
  write_cancel(scratch_, {id_, at->second.stream, {{what.place, 1}}});
  port_.to_instance(at->first, scratch_.bytes()); // if it gets lost, it is done in vain
  take_place(at->second, what.place);
}

void request_book::abandon(const pubsub::error& why) {
  entries_.for_each([&](std::uint64_t, entry& each) { fail(each, why); });
  queue_.clear();
}

// -- sending -------------------------------------------------------------------------------------

void request_book::send(time now, bool flush) {
  if (options_.mode == remote_mode::auto_)
    update_plan(now);
  send_by(plan_, now, flush);
}

void request_book::send_bulk(time now) {
  auto plan = bulk_plan();
  plan.requests_per_instance = 0; // whatever is under way
  send_by(plan, now, true);
}

void request_book::skip_complete() {
  while (!queue_.empty()) {
    const auto* its = entries_.find(queue_.front());
    if (its != nullptr && its->at == stage::waiting)
      return;
    queue_.pop_front();
  }
}

void request_book::send_by(const request_plan& plan, time now, bool flush) {
  skip_complete();
  const auto share = share_of(plan, now);
  const auto shared = together(plan);
  const auto bytes = shared > share ? most_bytes_together : options_.max_request_bytes;
  for (; !queue_.empty(); skip_complete()) {
    const auto room = plan.window_operations - std::min(plan.window_operations, in_flight_);
    const auto most = std::min(share, room);
    if (room < std::min(share, queue_.size()) && in_flight_ > 0)
      return; // for whole requests
    if (!flush && waits_for_company(most, now))
      return;
    const auto operation = entries_.find(queue_.front())->operation;
    const auto to = choose(operation, plan, now);
    if (to == instances_.end()) {
      if (!refuse_front())
        return;
      continue;
    }
    const auto n = std::max(most, std::min(shared, room));
    send_batch(*to, operation, gather(operation, n, bytes), now);
  }
}

/// Where something is under way already, a request that is not full waits for more, but not long.
bool request_book::waits_for_company(std::size_t most, time now) {
  if (queue_.size() >= most || in_flight_ == 0 || now - waiting_since_ >= time_for_company)
    return false;
  next_tick_ = std::min(next_tick_, waiting_since_ + time_for_company);
  return true;
}

/// The one with the least to do for each of its workers, of those that have the operation and may
/// get a request.
request_book::instance_map::iterator request_book::choose(std::uint32_t operation,
                                                          const request_plan& plan, time now) {
  auto best = instances_.end();
  double least = 0;
  for (auto each = instances_.begin(); each != instances_.end(); ++each) {
    const auto& its = each->second;
    if (!is_free(its, plan, now) || !its.operations.contains(operations_[operation]))
      continue;
    const auto load =
        static_cast<double>(its.places.size() + its.late) / static_cast<double>(its.workers);
    if (best == instances_.end() || load < least) {
      best = each;
      least = load;
    }
  }
  return best;
}

/// The first that waits can be given to nobody. True if that is final.
bool request_book::refuse_front() {
  auto& its = *entries_.find(queue_.front());
  const auto& name = operations_[its.operation];
  const instance* known = nullptr;
  for (const auto& [id, each] : instances_) {
    if (each.leaving)
      continue;
    if (each.operations.contains(name))
      return false; // it has enough to do
    known = &each;
  }
  if (known != nullptr)
    fail(its, {errc::no_such_operation, "service '" + service_name_ + "' has no operation '" +
                                            name + "', but " + listed(known->operations)});
  else if (!port_.anybody_serves())
    fail(its, {errc::no_such_service, "nobody within reach serves '" + service_name_ + "'"});
  else
    return false; // it will tell
  queue_.pop_front();
  finish_in_turn();
  return true;
}

/// Of what waits, for one request: instances that are free share a bulk.
std::size_t request_book::share_of(const request_plan& plan, time now) const {
  if (plan.mode != remote_mode::bulk)
    return plan.bulk_operations;
  std::size_t free = 0;
  for (const auto& [id, each] : instances_)
    free += is_free(each, plan, now) ? 1 : 0;
  free = std::max<std::size_t>(free, 1);
  return std::min(plan.bulk_operations, (queue_.size() + free - 1) / free);
}

/// It may get a request.
bool request_book::is_free(const instance& it, const request_plan& plan, time now) noexcept {
  return !it.leaving && now >= it.blocked_until &&
         (plan.requests_per_instance == 0 || it.requests.size() < plan.requests_per_instance);
}

/// How many operations may share a message: none that another worker would begin earlier.
std::size_t request_book::together(const request_plan& plan) const {
  const auto workers = size().workers;
  const auto turns = workers > 1 ? queue_.size() / (4 * workers) : queue_.size();
  return std::clamp<std::size_t>(turns, 1, plan.requests_in_a_message);
}

/// How many of those that wait go together; their arguments then are in `arguments_`.
std::size_t request_book::gather(std::uint32_t operation, std::size_t max, std::size_t max_bytes) {
  arguments_.clear();
  batch_.clear();
  for (const auto number : queue_) {
    const auto* its = entries_.find(number);
    if (batch_.size() >= max || its == nullptr || its->at != stage::waiting ||
        its->operation != operation)
      break;
    const bool fits = arguments_.size_bytes() + its->argument.size() <= max_bytes;
    if (!batch_.empty() && !fits)
      break;
    arguments_.write_encoded(std::as_bytes(std::span{its->argument}));
    batch_.push_back(number);
  }
  return batch_.size();
}

/// What cannot be sent waits on: for this instance some time, or alone for any.
void request_book::send_batch(instance_map::value_type& to, std::uint32_t operation, std::size_t n,
                              time now) {
  auto& [id, its] = to;
  scratch_.clear();
  write_request(scratch_, {id_, its.stream, its.places.end()}, operations_[operation], n,
                arguments_.bytes());
  const auto outcome = port_.to_instance(id, scratch_.bytes());
  if (outcome == remote_port::outcome::sent)
    return note_sent(to, now);
  if (outcome == remote_port::outcome::not_now) {
    its.blocked_until = now + time_between_tries;
    next_tick_ = std::min(next_tick_, its.blocked_until);
  } else if (n > 1) {
    gather(operation, n / 2, options_.max_request_bytes);
    send_batch(to, operation, batch_.size(), now);
  } else {
    fail(*entries_.find(queue_.front()),
         {errc::limit_exceeded, "a request of " + std::to_string(scratch_.size_bytes()) +
                                    " bytes is longer than this endpoint sends"});
    finish_in_turn();
  }
}

/// Those of the batch, in one request.
void request_book::note_sent(instance_map::value_type& to, time now) {
  auto& its = to.second;
  const auto n = batch_.size();
  const auto request = its.requests.add({n, n, scratch_.size_bytes(), now, in_flight_ == 0});
  in_flight_ += n;
  waiting_since_ = now;
  ++counters_.requests;
  for (const auto number : batch_) {
    auto& each = *entries_.find(number);
    each.at = stage::asked;
    each.instance = to.first;
    each.place = its.places.add({number, request});
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(n));
}

service_size request_book::size() const noexcept {
  service_size result{0, 0};
  for (const auto& [id, each] : instances_) {
    result.instances += each.leaving ? 0 : 1;
    result.workers += each.leaving ? 0 : each.workers;
  }
  return result;
}

/// Chooses again when much more or less waits than before, or some time has passed.
void request_book::update_plan(time now) {
  const auto n = queue_.size() + in_flight_;
  const auto bits = static_cast<std::size_t>(std::bit_width(n));
  if (bits == chosen_for_ && now < next_choice_)
    return;
  chosen_for_ = bits;
  next_choice_ = now + time_between_choices;
  const auto* next = queue_.empty() ? nullptr : entries_.find(queue_.front());
  auto at = next != nullptr ? meter_.conditions(next->operation) : meter_.conditions();
  if (next != nullptr)
    at.argument_bytes = static_cast<double>(next->argument.size());
  plan_ = best_plan(at, size(), n, options_);
}

// -- replies -------------------------------------------------------------------------------------

void request_book::receive(const data_message& message, time now, bool prompt) {
  const auto value = get_view(message);
  const auto kind = remote_kind(value);
  if (kind == remote_message::reply) {
    if (const auto reply = parse_reply(value))
      return hear(*reply, message, now, prompt);
  } else if (kind == remote_message::status) {
    if (const auto status = parse_status(value))
      return hear(*status, now);
  }
  ++counters_.refused;
}

void request_book::hear(const service_status& status, time now) {
  auto found = instances_.find(status.instance);
  if (found == instances_.end()) {
    if (status.leaving)
      return;
    found = instances_.emplace(status.instance, instance{}).first;
    found->second.stream = next_stream_++;
  }
  auto& its = found->second;
  its.heard = now;
  its.leaving = status.leaving;
  its.workers = std::clamp<std::uint64_t>(status.workers, 1, most_workers);
  its.operations.clear();
  for (const auto& each : status.operations)
    its.operations[each.name] = each.idempotent;
  send(now);
}

void request_book::hear(const reply_view& reply, const data_message& storage, time now,
                        bool prompt) {
  const auto from = instances_.find(reply.head.instance);
  if (from == instances_.end() || from->second.stream != reply.head.stream) {
    ++counters_.refused; // it was taken for lost
    return;
  }
  auto& its = from->second;
  its.heard = now;
  its.late = 0;
  auto sample = sample_of(its, reply);
  sample.received = now;
  sample.reply_bytes = get_view(storage).bytes().size();
  sample.prompt = prompt;
  meter_.add(sample);
  settle(its, reply, storage);
  std::vector<std::uint64_t> back;
  for (const auto& run : reply.head.untaken)
    for (auto place = std::max(run.first, its.places.begin());
         place < its.places.end() && place - run.first < run.count; ++place)
      if (const auto number = take_place(its, place))
        back.push_back(*number);
  for (auto each = back.rbegin(); each != back.rend(); ++each)
    give_back(*each);
  finish_in_turn();
  send(now);
}

/// Hands each result to its call.
void request_book::settle(instance& at, const reply_view& reply, const data_message& storage) {
  auto run = reply.head.places.begin();
  std::uint64_t in_run = 0, index = 0;
  auto failed = reply.head.failed.begin();
  for (const auto& result : reply.results.elements()) {
    while (in_run == run->count) { // one may be empty
      ++run;
      in_run = 0;
    }
    const auto number = take_place(at, run->first + in_run++);
    const bool is_failed = failed != reply.head.failed.end() && failed->index == index;
    ++index;
    if (auto* its = number ? entries_.find(*number) : nullptr) {
      its->at = stage::answered;
      if (is_failed)
        its->call->error = failed->error;
      its->call->storage = storage;
      its->call->result = result;
      if (!plan_.ordered)
        finish_answered(*its);
    }
    if (is_failed)
      ++failed;
  }
}

/// The call at this place, which then is settled. Nothing if it was.
std::optional<std::uint64_t> request_book::take_place(instance& at, std::uint64_t place) {
  const auto* found = at.places.find(place);
  if (found == nullptr)
    return {};
  const auto its = *found;
  at.places.erase(place);
  --in_flight_;
  if (--at.requests.find(its.request)->left == 0)
    at.requests.erase(its.request);
  return its.call;
}

/// Before its calls are settled. Of no operations if it tells nothing.
reply_sample request_book::sample_of(instance& at, const reply_view& reply) {
  if (reply.head.places.empty())
    return {};
  const auto& last = reply.head.places.back();
  const auto* place = at.places.find(last.first + last.count - 1);
  if (place == nullptr)
    return {};
  const auto& by = *at.requests.find(place->request);
  const auto* call = entries_.find(place->call);
  constexpr std::uint64_t longest = 3'600'000'000'000;
  reply_sample result;
  result.operation = call != nullptr ? call->operation : 0;
  result.sent = by.at;
  result.here = std::chrono::nanoseconds{std::min(reply.head.here_ns, longest)};
  result.busy = std::chrono::nanoseconds{std::min(reply.head.busy_ns, longest)};
  result.operations = reply.results.size();
  result.asked = by.operations;
  result.request_bytes = by.size_bytes;
  result.alone = by.alone;
  return result;
}

// -- losses --------------------------------------------------------------------------------------

/// It has not begun: it waits again, before all others.
void request_book::give_back(std::uint64_t number) {
  auto* its = entries_.find(number);
  if (its == nullptr || its->at != stage::asked)
    return;
  its->at = stage::waiting;
  queue_.push_front(number);
  ++counters_.repeated;
}

void request_book::lose(const endpoint_id& id, time now) {
  const auto found = instances_.find(id);
  if (found != instances_.end())
    lose(found, "is not within reach any more", now);
}

void request_book::lose(instance_map::iterator at, const std::string& how, time now) {
  auto lost = std::move(at->second);
  const auto name = to_string(at->first);
  instances_.erase(at);
  in_flight_ -= lost.places.size();
  std::vector<std::uint64_t> again;
  lost.places.for_each([&](std::uint64_t, const taken_place& place) {
    auto* its = entries_.find(place.call);
    if (its == nullptr || its->at != stage::asked)
      return;
    const auto operation = lost.operations.find(operations_[its->operation]);
    const bool idempotent = operation != lost.operations.end() && operation->second;
    if (idempotent && its->losses++ < options_.max_losses)
      again.push_back(place.call);
    else
      fail(*its, {errc::service_lost, "instance " + name + " of '" + service_name_ + "' " + how +
                                          (idempotent ? ", as others before" : "")});
  });
  for (auto each = again.rbegin(); each != again.rend(); ++each)
    give_back(*each);
  finish_in_turn();
  send(now);
}

void request_book::tick(time now) {
  if (now >= next_deadline_)
    give_up_late(now);
  for (const auto& each : known_instances()) {
    const auto at = instances_.find(each);
    if (at != instances_.end() && now - at->second.heard >= options_.silence)
      lose(at, "is silent", now);
  }
  next_tick_ = std::min(next_deadline_, now + time_between_ticks);
  send(now);
}

void request_book::give_up_late(time now) {
  next_deadline_ = time::max();
  entries_.for_each([&](std::uint64_t, entry& each) {
    if (each.deadline > now) {
      next_deadline_ = std::min(next_deadline_, each.deadline);
      return;
    }
    if (each.at == stage::answered)
      return finish_answered(each); // its turn would come too late
    release(each);
    fail(each, {errc::request_timeout,
                "operation '" + operations_[each.operation] + "' of '" + service_name_ + "'"});
  });
  finish_in_turn();
}

std::size_t request_book::instances() const noexcept {
  return size().instances;
}

std::vector<endpoint_id> request_book::known_instances() const {
  std::vector<endpoint_id> result;
  for (const auto& [id, each] : instances_)
    result.push_back(id);
  return result;
}

} // namespace pubsub::pattern
