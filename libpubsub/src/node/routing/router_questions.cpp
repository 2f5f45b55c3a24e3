// Questions how far a filter is known, asked and answered.
// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/router.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

void router::when_known(const std::shared_ptr<ready_state>& who) {
  {
    std::lock_guard lock{mutex_};
    if (closed_)
      return who->close();
    waits_.add(network_.filter_known(self_), who);
    any_wait_.store(true, std::memory_order_release);
  }
  look_at_waits();
}

/// Something has changed on which `waits_` wait: nodes have answered, have come or gone, or it is
/// time to ask again.
void router::look_at_waits() {
  if (!any_wait_.load(std::memory_order_acquire))
    return;
  std::vector<endpoint_id> unasked;
  bool pause = false;
  {
    std::lock_guard lock{mutex_};
    link_directory hosts;
    const auto& to = audience(hosts);
    waits_.settle(acknowledged_, to, [this] {
      return client_links_.interests().all_confirmed(std::chrono::steady_clock::now());
    });
    any_wait_.store(!waits_.empty(), std::memory_order_release);
    if (waits_.empty())
      return;
    unasked = waits_.take_unasked(acknowledged_, to,
                                  network_.hosts().empty() ? network_.links_version() : 0);
    pause = later_ && waits_.begin_pause(clock_() + routing_tuning::time_between_questions);
  }
  if (pause)
    later_(routing_tuning::time_between_questions);
  if (!unasked.empty())
    ask({self_, wire::max_hops, std::move(unasked)});
}

/// An answer may have been lost with its link.
void router::ask_again() {
  {
    std::lock_guard lock{mutex_};
    if (!later_ || !waits_.end_pause(clock_()))
      return;
  }
  look_at_waits();
}

void router::ask(const filter_question& question) {
  report_links();
  std::lock_guard turn{turn_}; // behind the reports that were sent before
  std::unique_lock lock{mutex_};
  link_directory hosts;
  auto news = ask_along(question, audience(hosts));
  lock.unlock();
  deliver(std::move(news));
}

/// Of a client: the relays that know its filter.
std::vector<endpoint_id> router::hosts() const {
  std::lock_guard lock{mutex_};
  return {network_.hosts().begin(), network_.hosts().end()};
}

/// Called with the mutex held: the nodes that need our filter, and the links to them; `hosts` is
/// written where this node is a client.
const link_directory& router::audience(link_directory& hosts) const {
  if (network_.hosts().empty())
    return *next_links();
  for (const auto& each : network_.hosts())
    hosts.emplace(each, neighbours_.at(each));
  return hosts;
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
    missing = acknowledged_.missing(within_reach, *filter);
  if (filter && missing.empty() && !awaits_links() &&
      client_links_.interests().all_confirmed(std::chrono::steady_clock::now()))
    return true;
  question.to = {self_};
  acknowledged_.defer(std::move(question), filter);
  return false;
}

/// Something has changed on which answers wait.
void router::answer_due() {
  std::unique_lock lock{mutex_};
  if (!acknowledged_.any_waiting())
    return;
  auto due = acknowledged_.take_due(*next_links(), own_filter());
  lock.unlock();
  for (auto& each : due)
    receive(std::move(each));
}

} // namespace pubsub
