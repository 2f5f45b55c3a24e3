// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/request_table.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

namespace {

using outcome = partner::outcome;

std::string listed(const auto& operations) {
  std::string result;
  for (const auto& [name, idempotent] : operations)
    result += (result.empty() ? "'" : ", '") + name + "'";
  return result.empty() ? "none" : result;
}

} // namespace

bool request_table::has_long_results(std::string_view operation) const {
  const auto found = calls_.operations().find(operation);
  return found != calls_.operations().end() &&
         found->second.result_bytes >= tuning::long_result_bytes;
}

// -- calls ---------------------------------------------------------------------------------------

request_table::call_ptr request_table::add(std::string_view operation,
                                           std::span<const std::byte> argument, time deadline,
                                           time now) {
  if (calls_.waiting().empty())
    waiting_since_ = now;
  const bool fits = argument.size() <= options_.max_request_bytes;
  auto& its = calls_.add(operation, fits ? argument : argument.first(0), deadline);
  auto call = its.call;
  if (!fits)
    calls_.fail(its, too_long("an argument", argument.size(),
                              "max_request_bytes, " + std::to_string(options_.max_request_bytes)));
  next_tick_ = std::min({next_tick_, calls_.next_deadline(), now + tuning::time_between_ticks});
  return call;
}

bool request_table::cancel(remote_call& call, time now) {
  auto* its = call.done ? nullptr : calls_.find(call.number);
  if (its == nullptr)
    return false;
  release(*its);
  calls_.fail(*its, {errc::cancelled});
  calls_.finish_in_turn();
  send(now);
  return true;
}

/// Tells the instance that has the call, if one has, and does not wait for its reply.
void request_table::release(const call_table::entry& what) {
  auto* at = what.at == call_table::stage::asked ? instances_.find(what.instance) : nullptr;
  if (at == nullptr)
    return;
  ++at->late;
  // Where the message is lost the work is in vain.
  port_.to_instance(what.instance, message_.encode(cancel_request{id_, at->stream, what.place}));
  instances_.take_place(*at, what.place);
}

// -- sending -------------------------------------------------------------------------------------

void request_table::send(time now, bool pending) {
  if (options_.mode == remote_mode::auto_)
    update_plan(now);
  send_by(plan_, now, pending);
}

void request_table::send_bulk(time now) {
  auto plan = bulk_plan();
  plan.one_per_instance = false; // however many are in flight
  send_by(plan, now, true);
}

void request_table::send_by(const request_plan& plan, time now, bool pending) {
  if (calls_.front() == nullptr)
    return;
  const auto share = share_of(plan, now);
  // No call goes in the message of others that another worker would begin earlier.
  const auto workers = instances_.size().workers;
  const auto shared = std::clamp<std::size_t>(
      calls_.waiting().size() / (workers > 1 ? 4 * workers : 1), 1, plan.requests_in_a_message);
  const auto bytes = shared > share ? tuning::most_bytes_together : options_.max_request_bytes;
  while (auto* first = calls_.front()) {
    const auto in_flight = instances_.in_flight();
    const auto room = plan.window_operations - std::min(plan.window_operations, in_flight);
    const auto most = std::min(share, room);
    if (room < std::min(share, calls_.waiting().size()) && in_flight > 0)
      return; // for whole requests
    if (!pending && waits_for_more(most, now))
      return;
    auto* const operation = first->operation;
    auto* const to = instances_.choose(operation->first, plan, now);
    if (to != nullptr) {
      gather(operation, std::max(most, std::min(shared, room)), bytes);
      send_batch(*to, operation, now);
    } else if (!refuse(*first)) {
      return;
    }
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
  const auto& name = first.operation->first;
  const instance* known = nullptr;
  for (const auto& [id, each] : instances_.all()) {
    if (!each.leaving && each.operations.contains(name))
      return false; // it has enough to do
    known = each.leaving ? known : &each;
  }
  if (known != nullptr)
    calls_.fail(first,
                {errc::no_such_operation, "service '" + service_name_ + "' has no operation '" +
                                              name + "', but " + listed(known->operations)});
  else if (!port_.is_served())
    calls_.fail(first,
                {errc::no_such_service, "no instance within reach serves '" + service_name_ + "'"});
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
  const auto free = std::ranges::count_if(
      instances_.all(), [&](const auto& each) { return each.second.is_free(plan, now); });
  const auto parts = static_cast<std::size_t>(std::max<std::ptrdiff_t>(free, 1));
  return std::min(plan.bulk_operations, (calls_.waiting().size() + parts - 1) / parts);
}

/// Makes a batch of calls that wait, and puts their arguments into `arguments_`.
void request_table::gather(const call_table::operation* operation, std::size_t max,
                           std::size_t max_bytes) {
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
}

/// What cannot be sent waits on: for this instance some time, or alone for any.
void request_table::send_batch(instance_table::map::value_type& to,
                               const call_table::operation* operation, time now) {
  auto& [id, its] = to;
  const value_list arguments{batch_.size(), arguments_.bytes()};
  const auto message = message_.encode(
      service_request<value_list>{id_, its.stream, its.places.end(), operation->first, arguments});
  const auto result = port_.to_instance(id, message);
  if (result == outcome::sent) {
    waiting_since_ = now;
    ++calls_.counters().requests;
    instances_.add_request(its, batch_.size(), message.size(), now);
    for (const auto number : batch_) {
      auto& each = *calls_.find(number);
      each.at = call_table::stage::asked;
      each.instance = id;
      each.place = instances_.add_place(its, number);
    }
    calls_.drop_first(batch_.size());
  } else if (result != outcome::too_long) {
    its.blocked_until = now + tuning::time_between_tries;
    next_tick_ = std::min(next_tick_, its.blocked_until);
  } else if (batch_.size() > 1) {
    gather(operation, batch_.size() / 2, options_.max_request_bytes);
    send_batch(to, operation, now);
  } else {
    calls_.fail(*calls_.front(), too_long("a request", message.size(), "this endpoint sends"));
    calls_.finish_in_turn();
  }
}

/// Chooses again when much more or less waits than before, or some time has passed.
void request_table::update_plan(time now) {
  const auto n = calls_.waiting().size() + instances_.in_flight();
  const auto bits = static_cast<std::size_t>(std::bit_width(n));
  if (bits == chosen_for_ && now < next_choice_)
    return;
  chosen_for_ = bits;
  next_choice_ = now + tuning::time_between_choices;
  const auto* next = calls_.front();
  auto at = next != nullptr ? next->operation->second : conditions_;
  if (next != nullptr)
    at.argument_bytes = static_cast<double>(next->argument.size());
  plan_ = best_plan(at, instances_.size(), n, options_);
}

// -- replies -------------------------------------------------------------------------------------

void request_table::receive(const data_message& message, time now, bool prompt) {
  const auto value = get_view(message);
  const auto from = [&](const endpoint_id& part) {
    return speakers_.is_own_word(part, message, now);
  };
  if (const auto reply = parse<reply_view>(value); reply && from(reply->instance))
    return receive(*reply, message, now, prompt);
  if (const auto status = parse<service_status>(value); status && from(status->instance)) {
    instances_.update(*status, now);
    return send(now);
  }
  ++calls_.counters().refused;
}

void request_table::receive(const reply_view& reply, const data_message& storage, time now,
                            bool prompt) {
  auto* its = instances_.find(reply.instance);
  if (its == nullptr || its->stream != reply.stream) {
    ++calls_.counters().refused; // the instance was taken for lost
    return;
  }
  its->last_message = now;
  its->late = 0;
  measure(*its, reply,
          {now, {}, {}, reply.results.size(), get_view(storage).bytes().size(), prompt});
  settle(*its, reply, storage);
  std::vector<std::uint64_t> back;
  for (const auto& [first, count] : reply.untaken)
    for (auto place = std::max(first, its->places.begin());
         place < its->places.end() && place - first < count; ++place)
      if (const auto number = instances_.take_place(*its, place))
        back.push_back(*number);
  calls_.put_first(back);
  calls_.finish_in_turn();
  send(now);
}

/// Before the places of the reply are taken: what it shows of the conditions.
void request_table::measure(instance& at, const reply_view& reply, received_reply what) {
  constexpr std::uint64_t longest_ns = 3'600'000'000'000; // that an instance may claim
  if (reply.places.empty())
    return;
  const auto last = reply.places.back().first + reply.places.back().count - 1;
  const auto* number = at.places.find(last);
  auto* const call = number != nullptr ? calls_.find(*number) : nullptr;
  if (call == nullptr)
    return;
  const auto after = std::ranges::upper_bound(at.requests, last, {}, &sent_request::first_place);
  what.here = std::chrono::nanoseconds{std::min(reply.here_ns, longest_ns)};
  what.busy = std::chrono::nanoseconds{std::min(reply.busy_ns, longest_ns)};
  pattern::measure(*std::prev(after), what, call->operation->second);
  conditions_ = call->operation->second;
}

/// Hands each result to its call.
void request_table::settle(instance& at, const reply_view& reply, const data_message& storage) {
  auto result = reply.results.elements().begin();
  auto failed = reply.failed.begin();
  std::uint64_t index = 0;
  for (const auto& [first, count] : reply.places)
    for (std::uint64_t i = 0; i < count; ++i, ++index, ++result) {
      if (failed != reply.failed.end() && index == failed->first + failed->count)
        ++failed;
      const auto number = instances_.take_place(at, first + i);
      auto* its = number ? calls_.find(*number) : nullptr;
      if (its == nullptr)
        continue;
      its->at = call_table::stage::answered;
      its->call->storage = storage;
      if (failed != reply.failed.end() && index >= failed->first)
        its->call->error = read_error(*result);
      else
        its->call->result = *result;
      if (!plan_.ordered)
        calls_.finish(*its);
    }
}

// -- losses --------------------------------------------------------------------------------------

void request_table::lose(const endpoint_id& id, const std::string& how, time now) {
  auto lost = instances_.extract(id);
  if (!lost)
    return;
  std::vector<std::uint64_t> again;
  lost->places.for_each([&](std::uint64_t, std::uint64_t number) {
    auto* its = calls_.find(number);
    if (its == nullptr || its->at != call_table::stage::asked)
      return;
    const auto known = lost->operations.find(its->operation->first);
    const bool idempotent = known != lost->operations.end() && known->second;
    if (idempotent && its->losses++ < options_.max_losses)
      again.push_back(number);
    else
      calls_.fail(*its,
                  {errc::service_lost, "instance " + to_string(id) + " of '" + service_name_ +
                                           "' " + how + (idempotent ? ", as others before" : "")});
  });
  calls_.put_first(again);
  calls_.finish_in_turn();
  send(now);
}

void request_table::tick(time now) {
  if (now >= calls_.next_deadline())
    calls_.expire(now, [&](call_table::entry& each) {
      release(each);
      calls_.fail(each, {errc::request_timeout,
                         "operation '" + each.operation->first + "' of '" + service_name_ + "'"});
    });
  std::vector<endpoint_id> silent;
  for (const auto& [id, each] : instances_.all())
    if (now - each.last_message >= options_.liveness_timeout)
      silent.push_back(id);
  for (const auto& each : silent)
    lose(each, "is silent", now);
  next_tick_ = std::min(calls_.next_deadline(), now + tuning::time_between_ticks);
  send(now);
}

} // namespace pubsub::pattern
