// What the access rule of a peer means for what it sends.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <pubsub/value/endpoint_id.hpp>

#include "access/access.hpp"
#include "access/rate_limit.hpp"
#include "node/flow/live_counters.hpp"
#include "node/flow/tuning.hpp"
#include "route/reports.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub {

/// Counts what is refused, tells the peer, and holds it back where it is too fast. Without a rule
/// everything is allowed. (Topics are up to the dispatcher.) Thread-safety: the link's loop only.
class peer_rights {
public:
  /// `call_back`: as of message_reader::environment.
  peer_rights(const endpoint_id& self, const endpoint_id& remote, std::shared_ptr<peer_link> via,
              std::shared_ptr<live_counters> counts,
              std::function<void(std::chrono::nanoseconds)> call_back)
      : self_(self), remote_(remote), via_(std::move(via)), counts_(std::move(counts)),
        call_back_(std::move(call_back)) {
    refresh();
  }

  /// Another rule may hold from now on.
  void refresh() {
    auto rule = via_->access();
    if (rule == rule_)
      return;
    rule_ = std::move(rule);
    const auto limits = rule_ ? rule_->limits : access_limits{};
    messages_.set(limits.messages_per_second);
    bytes_.set(limits.bytes_per_second);
  }

  /// Whether the report counts. A client is none that relays, whatever it says.
  bool allows(neighbours_report& news) {
    refresh();
    if (!rule_ || rule_->relay)
      return true;
    news.relays = false;
    return allows_about(news.about.node);
  }
  bool allows(const filter_report& news) {
    refresh();
    if (rule_ && !rule_->relay && !allows_about(news.about.node))
      return false;
    if (news.about.node != remote_)
      return true;
    const auto left = subscriptions_ - std::min(subscriptions_, news.removed.size());
    subscriptions_ = news.added.size() + (news.about.whole ? 0 : left);
    for (const auto& each : news.added)
      look_at_subscription(each);
    limit("subscriptions", subscriptions_, &access_limits::subscriptions);
    return true;
  }
  /// Whether the peer may send what this endpoint has published. (A client passes nothing on.)
  bool allows_messages_of(const endpoint_id& origin) const noexcept {
    return !rule_ || rule_->relay || origin == remote_;
  }
  /// What a Broker peer has subscribed to, all of it.
  void look_at(const filter& subscriptions) {
    for (const auto& each : subscriptions)
      look_at_subscription(each);
    limit("subscriptions", subscriptions.size(), &access_limits::subscriptions);
  }
  void look_at_topics(std::size_t announced) { limit("topics", announced, &access_limits::topics); }

  /// Messages have come. If that was too fast, nothing is read for a while, and credit is not
  /// given.
  void note_messages(std::size_t messages, std::size_t bytes) {
    if (!rule_)
      return;
    const auto now = via_->now();
    const auto wait = std::max(messages_.take(messages, now), bytes_.take(bytes, now));
    if (wait.count() == 0)
      return;
    go_on_at_ = now + wait;
    call_back_(wait);
    if (std::exchange(pausing_, true))
      return;
    counts_->limited.add(1);
    for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
      via_->gate(hops).pause();
  }
  /// From time to time.
  void go_on() {
    if (!pausing_)
      return;
    if (const auto now = via_->now(); now < go_on_at_)
      return call_back_(go_on_at_ - now);
    pausing_ = false;
    for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
      via_->gate(hops).resume();
  }

  /// What has been refused, and is counted. Broker peers are not told: they would not understand
  /// it.
  void deny(const std::string& what) {
    if (rule_ && via_->version() > 1 && told_++ < flow_tuning::most_refusals_told)
      via_->push_answer(wire::make_refusal(self_, "by access rule '" + rule_->name + "': " + what));
  }

private:
  bool allows_about(const endpoint_id& node) {
    if (node == remote_)
      return true;
    counts_->denied.add(1);
    if (!std::exchange(told_to_be_client_, true))
      deny("this is a client, and reports no other nodes");
    return false;
  }
  void look_at_subscription(std::string_view prefix) {
    if (may_subscribe(rule_, prefix))
      return;
    counts_->denied.add(1);
    deny("no subscription to '" + std::string{prefix} + "'");
  }
  void limit(std::string_view what, std::size_t number, std::uint64_t access_limits::*most) {
    if (!rule_ || rule_->limits.*most == 0 || number <= rule_->limits.*most)
      return;
    counts_->limited.add(1);
    via_->close({errc::limit_exceeded, std::to_string(number) + " " + std::string{what} +
                                           "; by access rule '" + rule_->name + "' there are " +
                                           std::to_string(rule_->limits.*most)});
  }

  const endpoint_id self_;
  const endpoint_id remote_;
  const std::shared_ptr<peer_link> via_;
  const std::shared_ptr<live_counters> counts_;
  const std::function<void(std::chrono::nanoseconds)> call_back_;
  access_ptr rule_;
  std::size_t subscriptions_ = 0; // of the peer itself
  bool told_to_be_client_ = false;
  std::size_t told_ = 0;
  rate_limit messages_, bytes_;
  bool pausing_ = false;
  peer_link::clock::time_point go_on_at_{};
};

} // namespace pubsub
