#include "pattern/remote/request_table.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

namespace {

std::string listed(const auto& operations) {
  std::string result;
  for (const auto& each : operations)
    result += (result.empty() ? "'" : ", '") + each.first + "'";
  return result.empty() ? "none" : result;
}

std::string too_long(std::string_view what, std::size_t size_bytes) {
  return std::string{what} + " of " + std::to_string(size_bytes) + " bytes is longer than ";
}

} // namespace

request_table::request_table(const endpoint_id& id, std::string service_name,
                             const remote_options& options, remote_port& port)
    : id_(id), service_name_(std::move(service_name)), options_(options), port_(port),
      plan_(fixed_plan(options)) {}

// -- calls ---------------------------------------------------------------------------------------

remote_conditions request_table::conditions(std::string_view operation) const {
  const auto* index = calls_.find_index(operation);
  return index == nullptr ? conditions() : meter_.conditions(*index);
}

request_table::call_ptr request_table::add(std::string_view operation,
                                           std::span<const std::byte> argument, time deadline,
                                           time now) {
  auto& its = calls_.add(calls_.index_of(operation), deadline);
  auto call = its.call;
  if (argument.size() > options_.max_request_bytes) {
    calls_.fail(its, {errc::limit_exceeded, too_long("an argument", argument.size()) +
                                                "max_request_bytes, " +
                                                std::to_string(options_.max_request_bytes)});
    return call;
  }
  if (calls_.waiting().empty())
    waiting_since_ = now;
  calls_.put_last(its, argument);
  next_tick_ = std::min({next_tick_, calls_.next_deadline(), now + tuning::time_between_ticks});
  return call;
}

bool request_table::cancel(remote_call& call, time now) {
  auto* its = calls_.find(call);
  if (its == nullptr)
    return false;
  release(*its);
  calls_.fail(*its, {errc::cancelled});
  calls_.finish_in_turn();
  send(now);
  return true;
}

/// The instance that has the call, if one has, is told, and is not waited for any more.
void request_table::release(const call_table::entry& what) {
  auto* at = what.at == call_table::stage::asked ? instances_.find(what.instance) : nullptr;
  if (at == nullptr)
    return;
  ++at->late;
  scratch_.clear();
  write_cancel(scratch_, {id_, at->stream, {{what.place, 1}}});
  port_.to_instance(what.instance, scratch_.bytes()); // if it gets lost, it is done in vain
  instances_.take_place(*at, what.place);
}

// -- sending -------------------------------------------------------------------------------------

void request_table::send(time now, bool flush) {
  if (options_.mode == remote_mode::auto_)
    update_plan(now);
  send_by(plan_, now, flush);
}

void request_table::send_bulk(time now) {
  auto plan = bulk_plan();
  plan.requests_per_instance = 0; // however many are in flight
  send_by(plan, now, true);
}

void request_table::send_by(const request_plan& plan, time now, bool flush) {
  if (calls_.front() == nullptr)
    return;
  const auto share = share_of(plan, now);
  const auto shared = together(plan);
  const auto bytes = shared > share ? tuning::most_bytes_together : options_.max_request_bytes;
  while (auto* first = calls_.front()) {
    const auto in_flight = instances_.in_flight();
    const auto room = plan.window_operations - std::min(plan.window_operations, in_flight);
    const auto most = std::min(share, room);
    if (room < std::min(share, calls_.waiting().size()) && in_flight > 0)
      return; // for whole requests
    if (!flush && waits_for_more(most, now))
      return;
    const auto operation = first->operation;
    auto* const to = instances_.choose(calls_.name_of(operation), plan, now);
    if (to == nullptr) {
      if (!refuse(*first))
        return;
      continue;
    }
    const auto n = std::max(most, std::min(shared, room));
    send_batch(*to, operation, gather(operation, n, bytes), now);
  }
}

/// Where something is in flight already, a request that is not full waits for more, but not long.
bool request_table::waits_for_more(std::size_t most, time now) {
  if (calls_.waiting().size() >= most || instances_.in_flight() == 0 ||
      now - waiting_since_ >= tuning::time_for_more)
    return false;
  next_tick_ = std::min(next_tick_, waiting_since_ + tuning::time_for_more);
  return true;
}

/// The first that waits can be given to no instance. True if that is final.
bool request_table::refuse(call_table::entry& first) {
  const auto& name = calls_.name_of(first.operation);
  const auto* known = instances_.find_for(name);
  if (known != nullptr && known->operations.contains(name))
    return false; // it has enough to do
  if (known != nullptr)
    calls_.fail(first,
                {errc::no_such_operation, "service '" + service_name_ + "' has no operation '" +
                                              name + "', but " + listed(known->operations)});
  else if (!port_.is_served())
    calls_.fail(first,
                {errc::no_such_service, "nobody within reach serves '" + service_name_ + "'"});
  else
    return false; // an instance will announce itself
  calls_.drop_first(1);
  calls_.finish_in_turn();
  return true;
}

/// Of what waits, for one request: instances that are free share a bulk.
std::size_t request_table::share_of(const request_plan& plan, time now) const {
  if (plan.mode != remote_mode::bulk)
    return plan.bulk_operations;
  const auto free = std::max<std::size_t>(instances_.count_free(plan, now), 1);
  return std::min(plan.bulk_operations, (calls_.waiting().size() + free - 1) / free);
}

/// How many operations may share a message: none that another worker would begin earlier.
std::size_t request_table::together(const request_plan& plan) const {
  const auto workers = instances_.size().workers;
  const auto waiting = calls_.waiting().size();
  const auto turns = workers > 1 ? waiting / (4 * workers) : waiting;
  return std::clamp<std::size_t>(turns, 1, plan.requests_in_a_message);
}

/// How many of those that wait go together; their arguments then are in `arguments_`.
std::size_t request_table::gather(std::uint32_t operation, std::size_t max, std::size_t max_bytes) {
  arguments_.clear();
  batch_.clear();
  for (const auto number : calls_.waiting()) {
    const auto* its = calls_.find(number);
    if (batch_.size() >= max || its == nullptr || its->at != call_table::stage::waiting ||
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
void request_table::send_batch(instance_table::map::value_type& to, std::uint32_t operation,
                               std::size_t n, time now) {
  auto& [id, its] = to;
  scratch_.clear();
  write_request(scratch_, {id_, its.stream, its.places.end()}, calls_.name_of(operation), n,
                arguments_.bytes());
  const auto outcome = port_.to_instance(id, scratch_.bytes());
  if (outcome == remote_port::outcome::sent)
    return note_sent(to, now);
  if (outcome == remote_port::outcome::not_now) {
    its.blocked_until = now + tuning::time_between_tries;
    next_tick_ = std::min(next_tick_, its.blocked_until);
  } else if (n > 1) {
    gather(operation, n / 2, options_.max_request_bytes);
    send_batch(to, operation, batch_.size(), now);
  } else {
    calls_.fail(*calls_.front(),
                {errc::limit_exceeded,
                 too_long("a request", scratch_.size_bytes()) + "this endpoint sends"});
    calls_.finish_in_turn();
  }
}

/// Those of the batch, in one request.
void request_table::note_sent(instance_table::map::value_type& to, time now) {
  auto place = to.second.places.end();
  instances_.add_request(to.second, batch_, scratch_.size_bytes(), now);
  waiting_since_ = now;
  ++calls_.counters().requests;
  for (const auto number : batch_) {
    auto& each = *calls_.find(number);
    each.at = call_table::stage::asked;
    each.instance = to.first;
    each.place = place++;
  }
  calls_.drop_first(batch_.size());
}

/// Chooses again when much more or less waits than before, or some time has passed.
void request_table::update_plan(time now) {
  const auto n = calls_.waiting().size() + instances_.in_flight();
  const auto bits = static_cast<std::size_t>(std::bit_width(n));
  if (bits == chosen_for_ && now < next_choice_)
    return;
  chosen_for_ = bits;
  next_choice_ = now + tuning::time_between_choices;
  const auto* next = calls_.waiting().empty() ? nullptr : calls_.find(calls_.waiting().front());
  auto at = next != nullptr ? meter_.conditions(next->operation) : meter_.conditions();
  if (next != nullptr)
    at.argument_bytes = static_cast<double>(next->argument.size());
  plan_ = best_plan(at, instances_.size(), n, options_);
}

// -- replies -------------------------------------------------------------------------------------

void request_table::receive(const data_message& message, time now, bool prompt) {
  const auto value = get_view(message);
  const auto kind = remote_kind(value);
  if (kind == remote_message::reply) {
    if (const auto reply = parse_reply(value))
      return hear(*reply, message, now, prompt);
  } else if (kind == remote_message::status) {
    if (const auto status = parse_status(value)) {
      instances_.update(*status, now);
      return send(now);
    }
  }
  ++calls_.counters().refused;
}

void request_table::hear(const reply_view& reply, const data_message& storage, time now,
                         bool prompt) {
  auto* its = instances_.find(reply.head.instance);
  if (its == nullptr || its->stream != reply.head.stream) {
    ++calls_.counters().refused; // the instance was taken for lost
    return;
  }
  its->heard = now;
  its->late = 0;
  auto sample = instance_table::sample_of(*its, reply, calls_);
  sample.received = now;
  sample.reply_bytes = get_view(storage).bytes().size();
  sample.prompt = prompt;
  meter_.add(sample);
  settle(*its, reply, storage);
  std::vector<std::uint64_t> back;
  for (const auto& run : reply.head.untaken)
    for (auto place = std::max(run.first, its->places.begin());
         place < its->places.end() && place - run.first < run.count; ++place)
      if (const auto number = instances_.take_place(*its, place))
        back.push_back(*number);
  give_back(back);
  calls_.finish_in_turn();
  send(now);
}

/// Hands each result to its call.
void request_table::settle(instance& at, const reply_view& reply, const data_message& storage) {
  auto run = reply.head.places.begin();
  std::uint64_t in_run = 0, index = 0;
  auto failed = reply.head.failed.begin();
  for (const auto& result : reply.results.elements()) {
    while (in_run == run->count) { // a run may be empty
      ++run;
      in_run = 0;
    }
    const auto number = instances_.take_place(at, run->first + in_run++);
    const bool is_failed = failed != reply.head.failed.end() && failed->index == index;
    ++index;
    if (auto* its = number ? calls_.find(*number) : nullptr) {
      its->at = call_table::stage::answered;
      if (is_failed)
        its->call->error = failed->error;
      its->call->storage = storage;
      its->call->result = result;
      if (!plan_.ordered)
        calls_.finish_answered(*its);
    }
    if (is_failed)
      ++failed;
  }
}

// -- losses --------------------------------------------------------------------------------------

/// In their order, before all others.
void request_table::give_back(const std::vector<std::uint64_t>& calls) {
  // Not std::views::reverse: clang before 16 cannot compile libstdc++'s views.
  for (auto each = calls.rbegin(); each != calls.rend(); ++each)
    calls_.put_first(*each);
}

void request_table::lose(const endpoint_id& id, const std::string& how, time now) {
  auto lost = instances_.extract(id);
  if (!lost)
    return;
  std::vector<std::uint64_t> again;
  lost->places.for_each([&](std::uint64_t, const instance_table::taken_place& place) {
    auto* its = calls_.find(place.call);
    if (its == nullptr || its->at != call_table::stage::asked)
      return;
    const bool idempotent = lost->is_idempotent(calls_.name_of(its->operation));
    if (idempotent && its->losses++ < options_.max_losses)
      again.push_back(place.call);
    else
      calls_.fail(*its,
                  {errc::service_lost, "instance " + to_string(id) + " of '" + service_name_ +
                                           "' " + how + (idempotent ? ", as others before" : "")});
  });
  give_back(again);
  calls_.finish_in_turn();
  send(now);
}

void request_table::tick(time now) {
  if (now >= calls_.next_deadline())
    calls_.expire(now, [&](call_table::entry& each) {
      release(each);
      calls_.fail(each, {errc::request_timeout, "operation '" + calls_.name_of(each.operation) +
                                                    "' of '" + service_name_ + "'"});
    });
  for (const auto& each : instances_.silent_since(now - options_.silence))
    lose(each, "is silent", now);
  next_tick_ = std::min(calls_.next_deadline(), now + tuning::time_between_ticks);
  send(now);
}

} // namespace pubsub::pattern
