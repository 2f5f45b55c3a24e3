// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/jetstream_reader.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pubsub::bridge {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto patience_with_commit = 1s;
/// For what is given back at the end.
constexpr auto patience_at_end = 100ms;

std::chrono::milliseconds left_until(clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
}

} // namespace

jetstream_reader::jetstream_reader(std::unique_ptr<nats_link> link,
                                   std::vector<pull_options> consumers)
    : link_(std::move(link)) {
  for (auto& each : consumers)
    consumers_.emplace_back(std::move(each), consumers_.size());
}

/// What it sends itself last comes back once the server has read what it gives back.
jetstream_reader::~jetstream_reader() {
  const auto echo = link_->subscribe("e");
  if (!echo)
    return;
  for (auto& each : consumers_)
    each.give_back(*link_);
  const auto subject = link_->inbox() + "e.end";
  ::natsConnection_Publish(link_->get(), subject.c_str(), nullptr, 0);
  const auto until = clock::now() + patience_at_end;
  while (link_->ready() && !next_message{echo.get()} && left_until(until) > 0ms) {
    link_->drive();
    link_->wait(10ms);
  }
}

void jetstream_reader::step(std::size_t max) {
  link_->drive();
  if (link_->ready() && std::exchange(generation_, link_->generation()) != link_->generation())
    for (auto& each : consumers_)
      each.begin(*link_);
  for (auto& each : consumers_)
    each.step(*link_, max);
  link_->flush();
}

void jetstream_reader::fetch(std::vector<fetched_record>& out, std::size_t max,
                             std::chrono::milliseconds timeout) {
  const auto until = clock::now() + timeout;
  const auto before = out.size();
  while (max > 0 && !failure()) {
    step(max);
    for (auto& each : consumers_)
      each.give_out(out, max - (out.size() - before));
    const auto left = left_until(until);
    if (out.size() > before || left <= 0ms)
      return;
    link_->wait(std::min<std::chrono::milliseconds>(left, 50ms));
  }
}

bool jetstream_reader::commit() {
  const auto until = clock::now() + patience_with_commit;
  while (true) {
    step(0);
    for (auto& each : consumers_)
      each.acknowledge(*link_);
    link_->flush();
    if (std::ranges::all_of(consumers_, &pull_consumer::acknowledged))
      return true;
    const auto left = left_until(until);
    if (left <= 0ms || !link_->ready() || failure())
      return false;
    link_->wait(std::min<std::chrono::milliseconds>(left, 50ms));
  }
}

bool jetstream_reader::at_end() const {
  return std::ranges::all_of(consumers_, &pull_consumer::at_end);
}

std::uint64_t jetstream_reader::lag() const {
  std::uint64_t result = 0;
  for (const auto& each : consumers_)
    result += each.lag();
  return result;
}

error jetstream_reader::failure() const {
  for (const auto& each : consumers_)
    if (each.failure())
      return each.failure();
  return {};
}

std::string jetstream_reader::last_problem() const {
  auto result = link_->problem();
  for (const auto& each : consumers_)
    if (result.empty() && !each.problem().empty())
      result = link_->address() + ": " + each.problem();
  return result;
}

} // namespace pubsub::bridge
