// SPDX-License-Identifier: BSD-3-Clause
#include "top/network_model.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "terminal.hpp"

namespace pubsub::tool {

namespace {

/// From this share on a queue is called full: what comes in bursts will not fit any more.
constexpr double nearly_full = 0.9;

struct reason_of_loss {
  std::string_view counter;
  std::string_view words;
};

constexpr auto link_reasons = std::to_array<reason_of_loss>({
    {"dropped_oldest", "queue full (oldest)"},
    {"dropped_newest", "queue full (newest)"},
    {"dropped_overflow", "queue full (cut off)"},
    {"dropped_gone", "peer gone"},
});
constexpr auto subscriber_reasons = std::to_array<reason_of_loss>({
    {"dropped_oldest", "subscriber full (oldest)"},
    {"dropped_newest", "subscriber full (newest)"},
    {"dropped_overflow", "subscriber full (cut off)"},
    {"dropped_closed", "subscriber closed"},
    {"decode_errors", "not decodable"},
    {"missed", "never arrived"},
});
constexpr auto node_reasons = std::to_array<reason_of_loss>({
    {"ttl_expired", "hop limit"},
    {"unreachable", "no path to a node"},
    {"no_subscriber", "no subscriber"},
    {"refused_topic", "refused: topic"},
    {"refused_size", "refused: too long"},
    {"refused_closed", "refused: closed"},
    {"refused_empty", "refused: empty"},
    {"malformed_frames", "malformed frames"},
});

/// Counters of two answers of a node, and the time between.
struct two_looks {
  const counter_set& now;
  const counter_set* before; ///< nullptr: there is only one
  double seconds;

  /// A counter that sank began anew, as that of a link that was made again: nothing is known then.
  double rate(std::string_view name) const {
    if (before == nullptr)
      return 0;
    const auto n = now[name];
    const auto b = (*before)[name];
    return n > b ? static_cast<double>(n - b) / seconds : 0;
  }
};

template <std::size_t N>
void add_losses(row& to, const std::array<reason_of_loss, N>& reasons, const two_looks& looks) {
  for (const auto& each : reasons)
    if (const auto n = looks.now[each.counter]; n > 0)
      to.losses.push_back({std::string{each.words}, n, looks.rate(each.counter)});
}

void add_traffic(row& to, const two_looks& looks) {
  to.in = looks.rate("received");
  to.out = looks.rate("sent");
  to.bytes_in = looks.rate("bytes_received");
  to.bytes_out = looks.rate("bytes_sent");
  to.credit_waits = looks.rate("credit_waits");
  to.queued += looks.now["queued"];
}

double share_of(const counter_set& counters, std::uint64_t capacity) {
  return capacity == 0 ? 0
                       : static_cast<double>(counters["queued"]) / static_cast<double>(capacity);
}

std::string losses_text(const row& of) {
  if (of.losses.empty())
    return "nothing lost";
  std::string result = "lost";
  for (const auto& each : of.losses)
    result += fmt::format("{} {} {}{}", &each == of.losses.data() ? ":" : ",", each.count,
                          each.reason, each.rate > 0 ? fmt::format(" (+{:.0f}/s)", each.rate) : "");
  return result;
}

/// What can be said once numbers are there.
void judge(row& to) {
  std::ranges::stable_sort(to.losses, std::greater{}, &loss::count);
  if (to.how == health::good)
    to.how = to.drops() > 0           ? health::dropping
             : to.full >= nearly_full ? health::full
                                      : health::good;
  if (to.state.empty())
    to.state = to.how == health::dropping ? "dropping" : to.how == health::full ? "full" : "ok";
  to.details.push_back(losses_text(to));
}

std::string key_of(const peer_report& peer) {
  return peer.id.empty() ? peer.address : peer.id;
}

const peer_report* find_peer(const node_report* in, const peer_report& same) {
  const auto key = key_of(same);
  if (in == nullptr)
    return nullptr;
  const auto found = std::ranges::find(in->peers, key, key_of);
  return found == in->peers.end() ? nullptr : &*found;
}

/// Whether the link to a peer was not made again between two answers.
bool is_same_link(const peer_report& now, const peer_report& before) {
  constexpr std::string_view never_sink[] = {"offered", "received", "bytes_sent", "bytes_received"};
  return std::ranges::all_of(never_sink, [&](std::string_view each) {
    return now.counters[each] >= before.counters[each];
  });
}

/// Over the links of a node, in its last two answers.
struct link_sums {
  counter_set now;
  counter_set before;
};

/// Those of wanted peers. The sums of a node hold what links that are gone have counted, and peers
/// that it has not told: so the others are taken away, and of what they had counted before only
/// what belongs to a link that is still there.
template <class Wanted>
link_sums sum_links(const node_report& last, const node_report* before, Wanted&& wanted) {
  link_sums result;
  if (last.all_links.empty()) { // an earlier version
    for (const auto& each : last.peers)
      if (wanted(each))
        result.now += each.counters;
    for (const auto& each : before ? before->peers : std::vector<peer_report>{})
      if (wanted(each))
        result.before += each.counters;
    return result;
  }
  result.now = last.all_links;
  if (before != nullptr)
    result.before = before->all_links;
  for (const auto& each : last.peers) {
    if (wanted(each))
      continue;
    result.now -= each.counters;
    const auto* const earlier = find_peer(before, each);
    if (earlier != nullptr && is_same_link(each, *earlier))
      result.before -= earlier->counters;
  }
  return result;
}

counter_set sum_of_subscribers(const node_report& node) {
  auto result = node.all_subscribers;
  if (result.empty())
    for (const auto& each : node.subscribers)
      result += each.counters;
  return result;
}

std::string short_id(const std::string& id) {
  return id.substr(0, 8);
}

/// Of a peer that is no node: names of clients are often that of the host that they share.
std::string name_of_other(const peer_report& peer) {
  if (peer.name.empty())
    return printable(peer.address.empty() ? short_id(peer.id) : peer.address);
  const auto port = peer.address.rfind(':');
  return printable(peer.name + (port == std::string::npos ? "#" + peer.id.substr(0, 4)
                                                          : peer.address.substr(port)));
}

health health_of_link(const std::string& state) {
  return state == "peered" ? health::good : state == "lost" ? health::lost : health::connecting;
}

} // namespace

double row::drops() const {
  return std::accumulate(losses.begin(), losses.end(), 0.0,
                         [](double sum, const loss& each) { return sum + each.rate; });
}

std::uint64_t row::dropped() const {
  return std::accumulate(losses.begin(), losses.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const loss& each) { return sum + each.count; });
}

void network_model::take_entry(const std::string& id) {
  entry_ = id;
  nodes_[id].reachable = true;
}

void network_model::take_network(const network_report& report) {
  left_out_ = report.left_out;
  for (auto& [id, node] : nodes_)
    node.reachable = id == entry_ || (node.reachable && report.left_out > 0);
  for (const auto& each : report.nodes) {
    auto& node = nodes_[each.id];
    if (!each.name.empty())
      node.name = each.name;
    node.reachable = each.reachable;
    node.relays = each.relays;
  }
}

void network_model::take_status(node_report report, time_point now) {
  auto& node = nodes_[report.id];
  if (!report.name.empty())
    node.name = report.name;
  node.answered = now;
  node.failure.reset();
  node.before = std::move(node.last);
  if (node.before && node.before->uptime_s >= report.uptime_s)
    node.before.reset(); // it has started again
  node.last = std::move(report);
}

void network_model::take_failure(const std::string& id, const error& problem) {
  if (const auto found = nodes_.find(id); found != nodes_.end())
    found->second.failure = problem;
}

void network_model::forget_silent() {
  std::erase_if(nodes_, [&](const auto& each) { return is_silent(each.first); });
}

std::vector<std::string> network_model::ids() const {
  std::vector<std::string> result;
  for (const auto& [id, node] : nodes_)
    if (node.reachable)
      result.push_back(id);
  return result;
}

std::optional<std::string> network_model::find(const std::string& name) const {
  for (const auto& [id, node] : nodes_)
    if (node.name == name || name_of(id) == name)
      return id;
  const auto found = nodes_.lower_bound(name);
  return !name.empty() && found != nodes_.end() && found->first.starts_with(name)
             ? std::optional{found->first}
             : std::nullopt;
}

const network_model::known_node* network_model::node(const std::string& id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::string network_model::name_of(const std::string& id) const {
  const auto* const known = node(id);
  if (known == nullptr || known->name.empty())
    return short_id(id);
  const auto same = std::ranges::count_if(
      nodes_, [&](const auto& each) { return each.second.name == known->name; });
  return printable(known->name) + (same > 1 ? "#" + id.substr(0, 4) : "");
}

bool network_model::is_silent(const std::string& id) const {
  const auto* const known = node(id);
  return known != nullptr && (!known->reachable || known->failure) &&
         !(known->failure && (known->failure->code() == errc::not_supported ||
                              known->failure->code() == errc::denied));
}

std::vector<row> network_model::nodes(time_point now) const {
  std::vector<row> result;
  result.reserve(nodes_.size());
  for (const auto& [id, each] : nodes_)
    result.push_back(describe(id, each, now));
  return result;
}

/// The program that asks is a client of the entry, told or not.
std::uint64_t network_model::count_clients(const node_report& node) const {
  const auto told = std::ranges::count_if(
      node.peers, [&](const peer_report& each) { return each.client && each.id != asker_; });
  const bool asker_told = std::ranges::count(node.peers, asker_, &peer_report::id) > 0;
  const bool asker_left_out = node.id == entry_ && !asker_told && node.peers_left_out > 0;
  return static_cast<std::uint64_t>(told) + node.peers_left_out - (asker_left_out ? 1 : 0);
}

row network_model::describe(const std::string& id, const known_node& known, time_point now) const {
  row result{.key = id, .name = name_of(id)};
  if (is_silent(id)) {
    result.how = health::silent;
    result.state = "silent";
    if (known.last) {
      result.silent_s = std::chrono::duration<double>(now - known.answered).count();
      result.state += " " + short_duration(*result.silent_s);
    }
  } else if (known.failure) {
    result.how = health::untold;
    result.state = "tells not";
  } else if (!known.last) {
    result.how = health::asked;
    result.state = "asked";
  } else if (!known.relays) {
    result.how = health::retiring;
    result.state = "retiring";
  }
  result.details.push_back(fmt::format("{} {}, version {}", printable(known.name), id,
                                       known.last ? printable(known.last->version) : "?"));
  if (!known.reachable)
    result.details.push_back("no path leads to it any more");
  else if (known.failure)
    result.details.push_back(printable(explain(*known.failure)));
  if (known.last)
    add_numbers(result, known);
  return result;
}

void network_model::add_numbers(row& to, const known_node& known) const {
  const auto& last = *known.last;
  to.rates_known = known.before && known.reachable && !known.failure;
  const auto* const before = to.rates_known ? &*known.before : nullptr;
  const auto seconds = before ? last.uptime_s - before->uptime_s : 0;
  const auto links =
      sum_links(last, before, [&](const peer_report& each) { return each.id != asker_; });
  const auto subscribers = sum_of_subscribers(last);
  const auto subscribers_before = before ? sum_of_subscribers(*before) : counter_set{};
  const two_looks of_links{links.now, before ? &links.before : nullptr, seconds};
  const two_looks of_subscribers{subscribers, before ? &subscribers_before : nullptr, seconds};
  const two_looks of_node{last.counters, before ? &before->counters : nullptr, seconds};
  add_traffic(to, of_links);
  to.queued += subscribers["queued"];
  for (const auto& each : last.peers)
    if (each.id != asker_)
      to.full = std::max(to.full, share_of(each.counters, each.capacity_messages));
  for (const auto& each : last.subscribers)
    to.full = std::max(to.full, share_of(each.counters, each.capacity_messages));
  add_losses(to, link_reasons, of_links);
  add_losses(to, subscriber_reasons, of_subscribers);
  add_losses(to, node_reasons, of_node);
  to.up_s = last.uptime_s;
  to.clients = count_clients(last);
  to.links = static_cast<std::uint64_t>(
      std::ranges::count_if(last.peers, [](const peer_report& each) { return !each.client; }));
  if (to.rates_known)
    to.details.push_back(fmt::format(
        "published {:.0f}/s, forwarded {:.0f}/s, delivered {:.0f}/s to {} subscribers here",
        of_node.rate("published"), of_node.rate("forwarded"), of_subscribers.rate("delivered"),
        last.subscribers.size() + last.subscribers_left_out));
  judge(to);
}

std::vector<row> network_model::links(const std::string& id, clients_shown how) const {
  std::vector<row> result;
  const auto* const at = node(id);
  if (at == nullptr || !at->last)
    return result;
  for (const auto& each : at->last->peers)
    if (each.id != asker_ && (!each.client || how == clients_shown::unfolded))
      result.push_back(describe(each, *at));
  if (how == clients_shown::folded && count_clients(*at->last) > 0)
    result.push_back(describe_clients(*at));
  if (is_silent(id))
    for (auto& each : result)
      each.rates_known = false;
  return result;
}

row network_model::describe(const peer_report& peer, const known_node& at) const {
  row result{.key = key_of(peer), .how = health_of_link(peer.state)};
  result.name = nodes_.contains(peer.id) ? name_of(peer.id) : name_of_other(peer);
  if (result.how != health::good)
    result.state = printable(peer.state);
  const auto* const before = find_peer(at.before ? &*at.before : nullptr, peer);
  result.rates_known = before != nullptr;
  const two_looks looks{peer.counters, before ? &before->counters : nullptr,
                        at.before ? at.last->uptime_s - at.before->uptime_s : 0};
  add_traffic(result, looks);
  result.full = share_of(peer.counters, peer.capacity_messages);
  add_losses(result, link_reasons, looks);
  if (peer.round_trip_us)
    result.round_trip_s = static_cast<double>(*peer.round_trip_us) / 1e6;
  const auto waits = peer.counters["credit_waits"];
  result.details = {
      fmt::format("{} {} {}{}{}", printable(peer.name), printable(peer.address), peer.id,
                  peer.client ? ", a client" : "",
                  peer.wire_version == 1 ? ", speaks version 1 (Broker)" : ""),
      fmt::format("wants {}; the queue to it holds {} messages{}{}", topics_text(peer.topics),
                  peer.capacity_messages,
                  waits > 0 ? fmt::format(" and has waited {} times for credit", waits) : "",
                  peer.access.empty() ? "" : "; access rule " + printable(peer.access))};
  judge(result);
  return result;
}

/// The sums over all clients. Rates are those of all links without those to relays, so clients that
/// there is no room for in the status count as well.
row network_model::describe_clients(const known_node& at) const {
  const auto& last = *at.last;
  const auto* const before = at.before ? &*at.before : nullptr;
  const auto seconds = before ? last.uptime_s - before->uptime_s : 0;
  const auto is_client = [&](const peer_report& x) { return x.client && x.id != asker_; };
  row result{.key = "clients", .clients = count_clients(last)};
  result.name = fmt::format("{} client{}", *result.clients, *result.clients == 1 ? "" : "s");
  link_sums losses; // of those that are told
  std::uint64_t told = 0;
  for (const auto& each : last.peers) {
    if (!is_client(each))
      continue;
    ++told;
    result.full = std::max(result.full, share_of(each.counters, each.capacity_messages));
    losses.now += each.counters;
    // What a client had lost before it was first told is not new.
    const auto* const earlier = find_peer(before, each);
    losses.before += earlier != nullptr ? earlier->counters : each.counters;
  }
  const auto sums = sum_links(last, before, is_client);
  result.rates_known = before != nullptr;
  add_traffic(result, {sums.now, before ? &sums.before : nullptr, seconds});
  add_losses(result, link_reasons, {losses.now, before ? &losses.before : nullptr, seconds});
  result.details = {
      told < *result.clients
          ? fmt::format("{} of them are told one by one; losses are those of these", told)
          : std::string{"press c to see them one by one"},
      "the sums over all of them; full is the fullest queue"};
  judge(result);
  return result;
}

std::vector<row> network_model::subscribers(const std::string& id) const {
  std::vector<row> result;
  const auto* const at = node(id);
  if (at == nullptr || !at->last)
    return result;
  const auto& now = at->last->subscribers;
  // The same place is the same subscriber, as long as there are as many.
  const bool same = at->before && at->before->subscribers.size() == now.size() && !is_silent(id);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto& each = now[i];
    row x{.key = fmt::format("{}", i), .name = topics_text(each.topics), .rates_known = same};
    const two_looks looks{each.counters, same ? &at->before->subscribers[i].counters : nullptr,
                          same ? at->last->uptime_s - at->before->uptime_s : 0};
    x.in = looks.rate("offered");
    x.out = looks.rate("delivered");
    x.queued = each.counters["queued"];
    x.full = share_of(each.counters, each.capacity_messages);
    add_losses(x, subscriber_reasons, looks);
    x.details = {fmt::format("wants {}", x.name),
                 fmt::format("policy {}, holds {} messages, {} bytes; {} replaced by newer ones",
                             printable(each.policy), each.capacity_messages, each.capacity_bytes,
                             each.counters["conflated"])};
    judge(x);
    result.push_back(std::move(x));
  }
  return result;
}

network_summary network_model::summary(time_point now) const {
  const auto all = nodes(now);
  network_summary result;
  std::uint64_t clients = 0;
  std::uint64_t silent = 0;
  double drops = 0;
  const row* worst = nullptr;
  for (const auto& each : all) {
    clients += each.clients.value_or(0);
    silent += each.how == health::silent ? 1 : 0;
    drops += each.drops();
    if (each.how >= health::full && (worst == nullptr || each.how > worst->how))
      worst = &each;
  }
  result.worst = worst == nullptr ? health::good : worst->how;
  result.text = fmt::format("{} node{}, {} client{}", all.size(), all.size() == 1 ? "" : "s",
                            clients, clients == 1 ? "" : "s");
  if (left_out_ > 0)
    result.text += fmt::format(", {} more nodes that are not told", left_out_);
  if (silent > 0)
    result.text += fmt::format(", {} not answering", silent);
  if (drops > 0)
    result.text += fmt::format(", losing {:.0f} messages/s", drops);
  if (worst == nullptr)
    result.text += ", all is well";
  else if (worst->how != health::silent && !worst->losses.empty())
    result.text += fmt::format("; {}: {}", worst->name, worst->losses.front().reason);
  else
    result.text += fmt::format("; {} is {}", worst->name, worst->state);
  return result;
}

} // namespace pubsub::tool
