// SPDX-License-Identifier: BSD-3-Clause
#include "calling.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace faults {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 25s;             // until instances are known
constexpr auto short_timeout = 20ms;       // of a call that is to be late at times
constexpr std::uint64_t short_every = 200; // so often one has it, or is cancelled
constexpr std::size_t most_at_once = 200;
constexpr const char* names[] = {"echo", "sum", "note"};

std::int64_t microseconds(std::chrono::steady_clock::time_point x) {
  return std::chrono::duration_cast<std::chrono::microseconds>(x.time_since_epoch()).count();
}

} // namespace

calling::calling(pubsub::endpoint& node, const std::string& service, const calling_options& options,
                 const std::string& file, planted fault)
    : options_(options), fault_(fault), it_(*pubsub::remote::open(node, service, options.how)),
      out_(file) {
  for (auto& each : threads_) {
    ++running_;
    each = std::thread{[this, seed = options.seed + running_] { run(seed); }};
  }
}

calling::~calling() {
  stop();
  it_.close();
  for (auto& each : threads_)
    each.join();
}

void calling::run(std::uint64_t seed) {
  dice random{seed};
  (void)it_.wait_for_instances(options_.instances, patience); // before, there is no such service
  auto due = clock::now();
  while (!stopping_) {
    const auto how = random() % 4;
    const auto n = how == 0   ? call_one(random)
                   : how == 1 ? submit_some(random)
                              : map_some(random, how == 2);
    due = std::max(due + std::chrono::nanoseconds{1'000'000'000 * n / options_.per_second},
                   clock::now());
    std::this_thread::sleep_until(due);
  }
  --running_;
}

// -- calls ---------------------------------------------------------------------------------------

calling::one calling::next(kind operation, dice& random) {
  one result{++numbers_, operation, {}, options_.how.timeout, clock::now()};
  switch (operation) {
  case kind::echo:
    result.argument =
        std::to_string(result.number) +
        std::string(random() % (random() % 100 == 0 ? 50'000 : 100), static_cast<char>('a'));
    break;
  case kind::sum:
    result.argument = pubsub::vector{result.number, random() % 1'000};
    break;
  case kind::note:
    result.argument = pubsub::vector{options_.name, result.number};
    break;
  }
  return result;
}

std::size_t calling::call_one(dice& random) {
  auto call = next(static_cast<kind>(random() % 3), random);
  const auto result = it_.call(names[static_cast<int>(call.operation)], call.argument);
  write(call, result, clock::now());
  return 1;
}

/// When a future is complete another thread may tell first.
std::size_t calling::submit_some(dice& random) {
  struct waiting {
    one call;
    pubsub::remote_future future;
    std::shared_ptr<std::atomic<clock::rep>> end;
  };
  std::vector<waiting> all(1 + random() % most_at_once);
  for (auto& [call, future, end] : all) {
    call = next(static_cast<kind>(random() % 3), random);
    if (random() % short_every == 0)
      call.timeout = short_timeout;
    end = std::make_shared<std::atomic<clock::rep>>(0);
    future = it_.submit_for(names[static_cast<int>(call.operation)], call.argument, call.timeout);
    future.when_ready([end = end] { *end = clock::now().time_since_epoch().count(); });
    if (random() % short_every == 0)
      future.cancel();
  }
  for (const auto& [call, future, end] : all) {
    const auto result = future.get();
    const auto told = clock::duration{end->load()};
    write(call, result, told > 0ns ? clock::time_point{told} : clock::now());
  }
  return all.size();
}

std::size_t calling::map_some(dice& random, bool in_bulk) {
  const auto operation = static_cast<kind>(random() % 3);
  std::vector<one> calls(1 + random() % most_at_once);
  std::vector<pubsub::data> arguments;
  for (auto& each : calls) {
    each = next(operation, random);
    arguments.push_back(each.argument);
  }
  const auto* const name = names[static_cast<int>(operation)];
  auto results =
      it_.map(name, arguments, in_bulk ? pubsub::grouping::in_bulk : pubsub::grouping::by_mode);
  if (fault_ == planted::reorder)
    std::swap(results.front(), results.back());
  const auto end = clock::now();
  for (std::size_t i = 0; i < calls.size(); ++i)
    write(calls[i], results.at(i), end);
  return calls.size();
}

// -- what was told -------------------------------------------------------------------------------

namespace {

/// Whether this is what `serving` makes of the argument; `by`: who says it has noted it.
bool belongs(const pubsub::data& result, const pubsub::data& argument, std::string& by) {
  const auto* const fields = argument.get_if<pubsub::vector>();
  if (fields == nullptr)
    return result == argument;
  if (fields->front().is<pubsub::count>())
    return result ==
           pubsub::data{fields->at(0).get<pubsub::count>() + fields->at(1).get<pubsub::count>()};
  const auto* noted = result.get_if<pubsub::vector>();
  if (noted == nullptr || noted->size() != 3 || !noted->at(2).is<std::string>() ||
      !std::equal(fields->begin(), fields->end(), noted->begin()))
    return false;
  by = noted->at(2).get<std::string>();
  return true;
}

} // namespace

void calling::write(const one& call, const pubsub::expected<pubsub::data>& result,
                    clock::time_point end) {
  std::string by = "-";
  const bool whole = result && belongs(*result, call.argument, by);
  std::string told = !result ? std::string{to_string(result.error().code())}
                             : std::string{whole ? "result" : "wrong"};
  if (!result && result.error().context().ends_with("as others before"))
    told += "_often";
  {
    const std::lock_guard lock{mutex_};
    out_ << call.number << ' ' << names[static_cast<int>(call.operation)] << ' '
         << microseconds(call.begin) << ' ' << microseconds(end) << ' '
         << std::chrono::duration_cast<std::chrono::microseconds>(call.timeout).count() << ' '
         << told << ' ' << by << '\n';
    out_.flush();
  }
  ++written_;
}

json_object calling::report() const {
  const auto counted = it_.counters();
  return json_object{}
      .add("name", options_.name)
      .add("submitted", counted.submitted)
      .add("done", counted.done)
      .add("failed", counted.failed)
      .add("requests", counted.requests)
      .add("repeated", counted.repeated)
      .add("unfinished", it_.unfinished())
      .add("instances", it_.instances())
      .add("written", written_.load())
      .add("running", running_.load());
}

} // namespace faults
