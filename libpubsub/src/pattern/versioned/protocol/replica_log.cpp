// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/replica_log.hpp"

namespace pubsub::pattern {

message_version replica_log::held() const {
  const auto found = std::ranges::lower_bound(entries_, here_, {}, &log_entry::last);
  if (here_ == given_.number || found == entries_.end())
    return given_;
  return {found->run.at.epoch, here_};
}

replica_log::entries_type::iterator replica_log::at(std::uint64_t number) {
  const auto found = std::ranges::lower_bound(entries_, number, {}, &log_entry::last);
  return found != entries_.end() && found->first() <= number ? found : entries_.end();
}

log_entry* replica_log::find(std::uint64_t number) {
  const auto found = at(number);
  return found == entries_.end() ? nullptr : &*found;
}

void replica_log::append(log_entry what) {
  end_ = what.last();
  bytes_ += what.values.bytes.size();
  if (!what.client.is_nil())
    clients_.add(what.client, what.run);
  entries_.push_back(std::move(what));
  advance_here();
}

void replica_log::advance_here() {
  for (auto next = at(here_ + 1); next != entries_.end() && next->here; ++next)
    here_ = next->last();
}

/// An entry beside that overlaps was numbered by a leader that had been replaced: it is dropped.
replica_log::place_result replica_log::place(log_entry what) {
  const auto number = what.first();
  if (number > end_ + 1)
    return beside_.try_emplace(number, std::move(what)).second ? place_result::placed
                                                               : place_result::known;
  if (number == end_ + 1) {
    append(std::move(what));
    while (!beside_.empty() && beside_.begin()->first <= end_ + 1) {
      auto next = beside_.extract(beside_.begin());
      if (next.key() == end_ + 1)
        append(std::move(next.mapped()));
    }
    return place_result::placed;
  }
  const auto found = at(number);
  if (found == entries_.end())
    return what.last() <= commit_ ? place_result::known : place_result::refused;
  if (found->run.at != what.run.at || found->client != what.client ||
      found->run.count != what.run.count)
    return place_result::refused;
  if (found->here)
    return place_result::known;
  found->values = what.values;
  found->storage = std::move(what.storage);
  found->here = true;
  bytes_ += found->values.bytes.size();
  advance_here();
  return place_result::placed;
}

bool replica_log::commit_to(std::uint64_t number) {
  const auto before = std::exchange(commit_, std::max(commit_, std::min(number, here_)));
  return commit_ > before;
}

void replica_log::conform(const start_message& x) {
  const auto last_of = [&](auto run) {
    return std::next(run) == x.runs.end() ? x.end : std::next(run)->first - 1;
  };
  const auto fits = [&](const log_entry& entry) {
    const auto above = std::ranges::upper_bound(x.runs, entry.first(), {}, &epoch_run::first);
    if (!entry.here || above == x.runs.begin())
      return false;
    const auto run = std::prev(above);
    return run->epoch == entry.run.at.epoch && entry.last() <= last_of(run);
  };
  std::vector<log_entry> kept;
  const auto commit = std::max(x.commit, commit_);
  while (!entries_.empty() && entries_.back().last() > commit) {
    auto& last = entries_.back();
    if (!last.client.is_nil())
      clients_.take_back(last.client, last.run);
    bytes_ -= last.here ? last.values.bytes.size() : 0;
    end_ = last.first() - 1;
    if (fits(last))
      kept.push_back(std::move(last));
    entries_.pop_back();
  }
  here_ = std::min(here_, end_);
  for (auto& [number, each] : std::exchange(beside_, {}))
    if (number > commit && fits(each))
      kept.push_back(std::move(each));
  for (auto& each : kept)
    place(std::move(each));
  for (auto run = x.runs.begin(); run != x.runs.end(); ++run)
    if (run->epoch == x.at.number && run->first > end_)
      place({.run = {0, last_of(run) + 1 - run->first, {run->epoch, run->first}, 0}});
}

std::vector<epoch_run> replica_log::epochs(std::uint64_t epoch) const {
  std::vector<epoch_run> result;
  auto each = std::ranges::lower_bound(entries_, commit_ + 1, {}, &log_entry::last);
  for (; each != entries_.end(); ++each) {
    const auto its = each->here ? each->run.at.epoch : epoch;
    if (result.empty() || result.back().epoch != its)
      result.push_back({each->first(), its});
  }
  return result;
}

std::size_t replica_log::take(std::vector<versioned_message>& out, std::size_t max) {
  std::size_t taken = 0;
  for (auto entry = at(given_.number + 1);
       taken < max && given_.number < commit_ && entry != entries_.end(); ++taken) {
    const auto offset = given_.number + 1 - entry->first();
    if (offset == 0)
      rest_ = entry->values.bytes;
    given_ = {entry->run.at.epoch, given_.number + 1};
    auto& next = out.emplace_back();
    next.version = given_;
    if (!entry->client.is_nil()) {
      next.value = data_view::from_valid(rest_);
      rest_ = rest_.subspan(next.value.bytes().size());
      next.client = entry->client;
      next.client_number = entry->run.client_first + offset;
      next.storage = entry->storage;
    }
    if (given_.number == entry->last()) {
      given_bytes_ += entry->values.bytes.size();
      ++entry;
    }
  }
  trim();
  return taken;
}

bool replica_log::is_between_entries() {
  const auto* entry = find(given_.number);
  return entry == nullptr || entry->last() == given_.number;
}

/// Keeps what was not handed out, and of the rest what the limits allow.
void replica_log::trim() {
  while (!entries_.empty() && entries_.front().last() <= given_.number &&
         (given_.number - entries_.front().first() >= history_messages_ ||
          given_bytes_ > history_bytes_)) {
    const auto size = entries_.front().values.bytes.size();
    bytes_ -= size;
    given_bytes_ -= size;
    entries_.pop_front();
  }
}

void replica_log::begin_after(const message_version& at,
                              const std::vector<client_progress>& clients) {
  entries_.clear();
  beside_.clear();
  clients_.assign(clients);
  given_ = at;
  end_ = here_ = commit_ = at.number;
  bytes_ = given_bytes_ = 0;
}

std::vector<client_progress> replica_log::clients_when_given() const {
  auto then = clients_;
  for (auto each = entries_.rbegin(); each != entries_.rend() && each->last() > given_.number;
       ++each)
    if (!each->client.is_nil())
      then.take_back(each->client, each->run);
  return then.all();
}

} // namespace pubsub::pattern
