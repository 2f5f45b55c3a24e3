#include "flow_table.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace flow_monitor {

std::size_t flow_table::key_hash::operator()(const key& k) const noexcept {
  std::uint64_t words[4];
  std::memcpy(words, k.low.bytes().data(), 16);
  std::memcpy(words + 2, k.high.bytes().data(), 16);
  std::uint64_t result =
      mix(seed ^ (std::uint64_t{k.low_port} << 32 | std::uint64_t{k.high_port} << 16 |
                  static_cast<std::uint64_t>(k.protocol)));
  for (const auto word : words)
    result = mix(result ^ word);
  return static_cast<std::size_t>(result);
}

flow_table::key flow_table::key_of(const packet& p, bool& is_from_low) {
  is_from_low = p.is_one_way ||
                std::tie(p.source, p.source_port) <= std::tie(p.destination, p.destination_port);
  key id{p.source, p.destination, p.source_port, p.destination_port, p.protocol, p.is_one_way};
  if (!is_from_low) {
    std::swap(id.low, id.high);
    std::swap(id.low_port, id.high_port);
  }
  return id;
}

std::chrono::nanoseconds flow_table::patience(flow_phase phase) const {
  switch (phase) {
  case flow_phase::attempt:
    return limits_.attempt_timeout;
  case flow_phase::connected:
    return limits_.tcp_timeout;
  case flow_phase::datagrams:
    return limits_.udp_timeout;
  case flow_phase::closed:
    return limits_.close_linger;
  case flow_phase::reset:
    return limits_.reset_linger;
  }
  return limits_.tcp_timeout;
}

flow_table::entries::iterator flow_table::open(const packet& p, const key& id, bool is_from_low) {
  const bool is_flipped = comes_from_responder(p);
  auto& list = in_phase(flow_phase::attempt); // add() moves it where it belongs
  const auto opened = list.insert(
      list.end(), entry{id, flow{p, is_flipped, uids_.next()}, is_from_low != is_flipped});
  flows_.emplace(id, opened);
  return opened;
}

void flow_table::end(entries::iterator which, std::vector<conn_record>& finished) {
  finished.push_back(which->state.to_record());
  flows_.erase(which->id);
  in_phase(which->state.phase()).erase(which);
}

void flow_table::end_longest_silent(std::vector<conn_record>& finished) {
  entries* longest = nullptr;
  for (auto& list : phases_)
    if (!list.empty() &&
        (longest == nullptr || list.front().state.last_seen() < longest->front().state.last_seen()))
      longest = &list;
  if (longest == nullptr)
    return;
  ++evicted_flows_;
  end(longest->begin(), finished);
}

void flow_table::add(const packet& p, std::vector<conn_record>& finished) {
  advance(p.at, finished);
  bool is_from_low = false;
  const key id = key_of(p, is_from_low);
  auto found = flows_.find(id);
  if (found != flows_.end() && p.protocol == transport::tcp &&
      found->second->state.is_succeeded_by(p)) {
    end(found->second, finished);
    found = flows_.end();
  }
  if (found == flows_.end() && flows_.size() >= limits_.max_flows)
    end_longest_silent(finished);
  const auto which = found == flows_.end() ? open(p, id, is_from_low) : found->second;
  auto& before =
      found == flows_.end() ? in_phase(flow_phase::attempt) : in_phase(which->state.phase());
  which->state.add(p, which->is_low_orig == is_from_low ? side::orig : side::resp);
  auto& after = in_phase(which->state.phase());
  after.splice(after.end(), before, which);
}

void flow_table::advance(pubsub::timestamp now, std::vector<conn_record>& finished) {
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const auto allowed = patience(static_cast<flow_phase>(i));
    auto& list = phases_[i];
    while (!list.empty() && now - list.front().state.last_seen() > allowed)
      end(list.begin(), finished);
  }
}

void flow_table::finish_all(std::vector<conn_record>& finished) {
  const auto begin = finished.size();
  for (auto& list : phases_) {
    for (const auto& each : list)
      finished.push_back(each.state.to_record());
    list.clear();
  }
  flows_.clear();
  std::sort(finished.begin() + static_cast<std::ptrdiff_t>(begin), finished.end(),
            [](const conn_record& x, const conn_record& y) {
              return std::tie(x.ts, x.uid) < std::tie(y.ts, y.uid);
            });
}

} // namespace flow_monitor
