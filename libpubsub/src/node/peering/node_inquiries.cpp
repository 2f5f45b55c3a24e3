// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/node_inquiries.hpp"

#include <algorithm>
#include <future>
#include <limits>
#include <vector>

#include "node/peering/tuning.hpp"
#include "node/routing/dispatcher.hpp"

namespace pubsub {

namespace {

using clock = std::chrono::steady_clock;
using outcome = wire::reply_outcome;

std::chrono::microseconds since(clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - start);
}

trace_outcome outcome_of(outcome x) noexcept {
  switch (x) {
  case outcome::answer:
    return trace_outcome::reached;
  case outcome::not_told:
  case outcome::not_allowed:
  case outcome::busy:
    return trace_outcome::refused;
  case outcome::out_of_reach:
    return trace_outcome::out_of_reach;
  case outcome::too_late:
  case outcome::lost:
    break;
  }
  return trace_outcome::no_answer;
}

std::string count_of(std::size_t n, std::string_view noun) {
  return std::to_string(n) + " " + std::string{noun} + (n == 1 ? "" : "s");
}

/// What the route of a message says about this node.
trace_hop describe(const route& found, const session* from, const endpoint_id& self,
                   const std::string& name) {
  trace_hop here{.node = self, .name = name, .subscribers = found.queues.size()};
  for (const auto& each : found.queues)
    here.waiting = std::max<std::uint64_t>(here.waiting, each->ahead() + each->size());
  const auto remark = [&](std::string text) { here.remarks.push_back(std::move(text)); };
  if (found.denied) {
    const auto rule = from != nullptr ? from->carrier()->access() : nullptr;
    remark("the peer before may not publish on this topic here" +
           (rule ? ", by access rule '" + rule->name + "'" : ""));
  }
  if (found.left_out.denied > 0)
    remark(count_of(found.left_out.denied, "peer") +
           " may not receive this topic, by access rules");
  if (found.unreachable > 0)
    remark(count_of(found.unreachable, "destination") + " out of reach");
  if (found.unwanted_here && !found.denied)
    remark("no subscriber here wants it any more");
  return here;
}

} // namespace

// -- asking and answering ------------------------------------------------------------------------

wire::reply node_inquiries::ask(wire::inquiry what, const deadline& until) {
  const auto answered = std::make_shared<std::promise<wire::reply>>();
  auto answer = answered->get_future();
  const auto left = until ? *until - clock::now() : peering_tuning::longest_wait;
  what.time_left =
      std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{0},
                 std::chrono::milliseconds{std::numeric_limits<std::uint32_t>::max()});
  take(what, nullptr, [answered](wire::reply x) { answered->set_value(std::move(x)); });
  if (until && answer.wait_until(*until) != std::future_status::ready)
    return {.outcome = outcome::too_late};
  return answer.get();
}

/// A relay may ask on behalf of others, whose rights are looked at where they are linked.
bool node_inquiries::may_inspect(const session* from) const {
  const auto rule = from != nullptr ? from->carrier()->access() : nullptr;
  return !rule || rule->relay || rule->inspect;
}

void node_inquiries::take(const wire::inquiry& what, const std::shared_ptr<session>& from,
                          inquiries::settle done) {
  const bool about_us = what.node == env_.self;
  if (!(about_us && what.subject == wire::inquiry_subject::status) && !may_inspect(from.get()))
    return done(
        {.outcome = outcome::not_allowed,
         .body = "by access rule '" + from->carrier()->access()->name + "': no right to inspect"});
  const bool is_trace = what.subject == wire::inquiry_subject::trace;
  if (from && (about_us || is_trace) && !tell_)
    return done(
        {.outcome = outcome::not_told, .body = to_string(env_.self) + " does not tell of itself"});
  if (is_trace)
    return trace(what, from, std::move(done));
  if (about_us)
    return done({.body = tell_ ? tell_(what.subject, what.max_bytes) : std::string{}});
  auto next = next_towards(what.node);
  if (!next || next == from || what.hops_left <= 1)
    return done({.outcome = outcome::out_of_reach,
                 .body = to_string(what.node) + " is out of reach of " + to_string(env_.self)});
  pass_on(what, next, [started = clock::now(), done = std::move(done)](auto answer) {
    answer.spent = since(started);
    done(std::move(answer));
  });
}

/// A peer, or the link that leads to the node; a client leaves that to the relay that serves it.
std::shared_ptr<session> node_inquiries::next_towards(const endpoint_id& node) const {
  if (auto peer = env_.session_of(node))
    return peer;
  const auto now = env_.routes->snapshot();
  const auto found = now->is_client && !now->next_links->empty() ? now->next_links->begin()
                                                                 : now->next_links->find(node);
  return found == now->next_links->end() ? nullptr : env_.session_over(*found->second);
}

void node_inquiries::pass_on(wire::inquiry what, const std::shared_ptr<session>& to,
                             inquiries::settle done) {
  --what.hops_left;
  what.time_left -= what.time_left / peering_tuning::part_of_time_kept;
  const auto until = clock::now() + what.time_left;
  std::unique_lock lock{mutex_};
  const key mine{until, ++last_key_};
  open_.emplace(mine, open_question{to});
  lock.unlock();
  const auto number = to->ask(std::move(what), [this, mine, done = std::move(done)](auto answer) {
    std::unique_lock inner{mutex_};
    open_.erase(mine);
    inner.unlock();
    done(std::move(answer));
  });
  lock.lock();
  if (const auto found = open_.find(mine); found != open_.end()) {
    found->second.number = number;
    look_until(std::move(lock), until);
  }
}

void node_inquiries::give_up_late_ones() {
  std::unique_lock lock{mutex_};
  next_look_ = time::max();
  const auto now = clock::now();
  std::vector<open_question> late;
  for (const auto& [when, each] : open_)
    if (when.first <= now && each.number != 0)
      late.push_back(each);
  // Those go when they are settled, below; what comes next is the first of the others.
  const auto next = std::ranges::find_if(open_, [&](const auto& x) { return x.first.first > now; });
  if (next != open_.end())
    look_until(std::move(lock), next->first.first);
  else
    lock.unlock();
  for (const auto& each : late)
    if (const auto to = each.to.lock())
      to->give_up(each.number);
}

void node_inquiries::look_until(std::unique_lock<std::mutex> lock, time first) {
  const auto now = clock::now();
  first = std::min(first, now + peering_tuning::longest_look_at_questions);
  if (first >= next_look_)
    return;
  next_look_ = first;
  lock.unlock();
  env_.look_later(std::max(first - now, clock::duration{0}));
}

// -- where a message goes -------------------------------------------------------------------------

/// The hops from here on, until all that were asked have answered. Thread-safe.
class node_inquiries::gathering {
public:
  gathering(trace_hop here, std::size_t max_bytes, inquiries::settle done)
      : max_bytes_(max_bytes), done_(std::move(done)) {
    hops_.push_back(std::move(here));
  }

  void expect_one() {
    std::lock_guard lock{mutex_};
    ++expected_;
  }
  /// `next`: as seen from here. What lies behind it, it says itself.
  void add(trace_hop next, const wire::reply& answer) {
    auto behind =
        answer.outcome == outcome::answer ? wire::read_hops(answer.body) : std::vector<trace_hop>{};
    std::unique_lock lock{mutex_};
    if (!behind) {
      next.outcome = trace_outcome::refused;
      next.remarks.emplace_back("its answer makes no sense");
    } else if (!behind->empty()) {
      auto& itself = behind->front();
      next.subscribers = itself.subscribers;
      next.waiting = itself.waiting;
      next.remarks = std::move(itself.remarks);
    } else if (!answer.body.empty()) {
      next.remarks.push_back(answer.body);
    }
    hops_.push_back(std::move(next));
    if (behind && !behind->empty())
      std::move(behind->begin() + 1, behind->end(), std::back_inserter(hops_));
    settle_one(std::move(lock));
  }
  void add(trace_hop next) {
    std::lock_guard lock{mutex_};
    hops_.push_back(std::move(next));
  }
  void remark(std::string text) {
    std::lock_guard lock{mutex_};
    hops_.front().remarks.push_back(std::move(text));
  }
  /// One that was expected has come.
  void settle_one(std::unique_lock<std::mutex> lock) {
    if (--expected_ > 0)
      return;
    wire::reply all{.spent = since(started_), .body = wire::write_hops(hops_, max_bytes_)};
    lock.unlock();
    done_(std::move(all));
  }
  void settle_one() { settle_one(std::unique_lock{mutex_}); }

private:
  const std::size_t max_bytes_;
  const clock::time_point started_ = clock::now();
  const inquiries::settle done_;
  std::mutex mutex_; // guards the following
  std::vector<trace_hop> hops_;
  std::size_t expected_ = 1; // the one who makes this, until all are asked
};

void node_inquiries::trace(const wire::inquiry& what, const std::shared_ptr<session>& from,
                           inquiries::settle done) {
  const bool published_here = !from || from->is_of_client();
  const auto hops = wire::max_hops - what.hops_left;
  const exits open{
      .queues = from != nullptr || env_.options->own_messages == own_messages::deliver,
      .links = from == nullptr || env_.routes->forwards(),
      .from = from ? from->carrier().get() : nullptr,
  };
  dispatcher routes{env_.self, *env_.routes, open};
  routes.refresh();
  const auto& found = published_here ? routes.resolve_published(what.topic, hops)
                                     : routes.resolve(what.topic, what.destinations, hops);
  const auto all = std::make_shared<gathering>(
      describe(found, from.get(), env_.self, env_.options->name), what.max_bytes, std::move(done));
  auto links = found.links;
  if (const auto now = env_.routes->snapshot(); !from && now->is_client)
    for (const auto& [relay, via] : *now->next_links) // also relays that say: unwanted
      if (std::ranges::find(links, via) == links.end())
        links.push_back(via);
  if (links.empty() && found.queues.empty() && !found.denied && found.left_out.denied == 0)
    all->remark("nobody wants this topic, here or behind");
  if (links.size() > peering_tuning::max_peers_traced) {
    all->remark(count_of(links.size() - peering_tuning::max_peers_traced, "more peer") +
                " would get it, and were not asked");
    links.resize(peering_tuning::max_peers_traced);
  }
  for (const auto& via : links) {
    const auto next = env_.session_over(*via);
    if (!next)
      continue; // it is just going
    trace_hop there{.node = next->remote(),
                    .name = next->name(),
                    .from = env_.self,
                    .queued = via->counters().queued};
    if (via->version() == 1) {
      there.outcome = trace_outcome::broker_peer;
      all->add(std::move(there));
      continue;
    }
    if (what.hops_left <= 1) {
      all->remark("too many hops: messages go no further");
      break;
    }
    auto on = what;
    const auto there_on = nodes_via(*found.nodes, via.get());
    on.destinations.assign(there_on.begin(), there_on.end());
    all->expect_one();
    const auto started = clock::now();
    pass_on(std::move(on), next, [all, there, started](const wire::reply& answer) mutable {
      const auto all_of_it = since(started);
      there.outcome = outcome_of(answer.outcome);
      there.round_trip = all_of_it - std::min(answer.spent, all_of_it);
      all->add(std::move(there), answer);
    });
  }
  all->settle_one();
}

} // namespace pubsub
