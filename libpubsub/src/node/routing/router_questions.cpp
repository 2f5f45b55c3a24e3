// Questions how far a filter is known, asked and answered.
// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "node/routing/router.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

bool router::wait_until_known(const deadline& until) {
  report_version subscribed;
  std::vector<endpoint_id> missing;
  auto all_know = [&] {
    missing = ready_.missing(audience(), subscribed);
    return missing.empty() &&
           client_links_.interests().all_confirmed(std::chrono::steady_clock::now());
  };
  auto in_time = [&] { return !until || std::chrono::steady_clock::now() < *until; };
  std::unique_lock lock{mutex_};
  subscribed = network_.filter_known(self_);
  while (!closed_ && !all_know()) {
    if (!in_time())
      return false;
    lock.unlock();
    ask({self_, wire::max_hops, missing}); // again, if an answer was lost with its link
    const std::set<endpoint_id> asked(missing.begin(), missing.end());
    lock.lock();
    auto again = std::chrono::steady_clock::now() + routing_tuning::time_between_questions;
    changed_.wait_until(lock, until ? std::min(*until, again) : again, [&] {
      return closed_ || all_know() ||
             std::ranges::any_of(missing, [&](const auto& each) { return !asked.contains(each); });
    });
  }
  return !closed_;
}

void router::ask(const filter_question& question) {
  report_links();
  std::lock_guard turn{turn_}; // behind the reports that were sent before
  std::unique_lock lock{mutex_};
  const auto to = audience();
  lock.unlock();
  deliver(ask_along(question, to));
}

/// Of a client: the relays that know its filter.
std::vector<endpoint_id> router::hosts() const {
  std::lock_guard lock{mutex_};
  return {network_.hosts().begin(), network_.hosts().end()};
}

/// Called with the mutex held: the nodes that need our filter, and the links to them.
link_directory router::audience() const {
  if (network_.hosts().empty())
    return *next_links();
  link_directory result;
  for (const auto& each : network_.hosts())
    result.emplace(each, neighbours_.at(each));
  return result;
}

void router::receive(filter_question question) {
  const bool for_us = std::erase(question.to, self_) > 0;
  if (question.hops_left-- > 1 && !question.to.empty() && forwards())
    ask(question);
  if (!for_us)
    return;
  report_links();
  if (!has_arrived_at(question))
    return;
  std::unique_lock lock{mutex_};
  const auto link = clients().link_of(question.from);
  const auto [incarnation, number] =
      link ? clients().filter_known(question.from) : network_.filter_known(question.from);
  const filter_answer answer{self_, question.from, wire::max_hops, incarnation, number};
  std::vector<endpoint_id> missing;
  if (!may_answer(question, missing)) {
    lock.unlock();
    if (!missing.empty())
      ask({self_, wire::max_hops, std::move(missing)});
    return;
  }
  lock.unlock();
  if (link)
    deliver({letter{{link}, wire::make_answer(answer)}});
  else
    receive(self_, answer);
}

/// Whether what went to the node that asks is there, if it retires. If not, it is answered later.
bool router::has_arrived_at(const filter_question& question) {
  std::unique_lock lock{mutex_};
  if (!network_.knows(question.from) || network_.relays(question.from))
    return true;
  const auto path = next_links()->find(question.from);
  const auto via = path == next_links()->end() ? nullptr : path->second;
  lock.unlock();
  const auto again = [this, from = question.from] { receive({from, 1, {self_}}); };
  return via == nullptr || departures_.has_arrived(question.from, via, again);
}

/// Our filter as it is reported; nothing while a change waits to be reported.
std::optional<report_version> router::own_filter() const {
  if (table_.changes_of_peers() > 0)
    return {};
  return network_.filter_known(self_);
}

/// Called with the mutex held. A question that cannot be answered yet waits, and asks `missing`.
bool router::may_answer(filter_question& question, std::vector<endpoint_id>& missing) {
  const bool of_client = forwards() && clients().contains(question.from);
  const auto filter = of_client ? own_filter() : report_version{};
  const auto& within_reach = *next_links();
  if (filter)
    missing = ready_.missing(within_reach, *filter);
  if (filter && missing.empty() && !network_.awaits_links() &&
      client_links_.interests().all_confirmed(std::chrono::steady_clock::now()))
    return true;
  question.to = {self_};
  ready_.defer(std::move(question), filter);
  return false;
}

/// Something has changed on which answers wait.
void router::answer_due() {
  std::unique_lock lock{mutex_};
  if (!ready_.any_waiting())
    return;
  auto due = ready_.take_due(*next_links(), own_filter());
  lock.unlock();
  for (auto& each : due)
    receive(std::move(each));
}

} // namespace pubsub
