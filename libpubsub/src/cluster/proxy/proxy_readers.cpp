// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/proxy/proxy_readers.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <utility>

#include <linux/sockios.h>
#include <netdb.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace pubsub::cluster {

namespace {

/// A reader that makes up more prefixes than these is followed no further: it still gets all
/// messages, and only counts are less exact.
constexpr std::size_t max_prefixes = 10'000;

std::string address_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getpeername(fd, generic, &size) != 0 ||
      ::getnameinfo(generic, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return address.ss_family == AF_INET6 ? "[" + std::string{host} + "]:" + port
                                       : std::string{host} + ":" + port;
}

int waiting_bytes(int fd) {
  int result = 0;
  return ::ioctl(fd, SIOCOUTQ, &result) == 0 ? result : 0;
}

} // namespace

proxy_readers::system proxy_readers::real_system() {
  return {address_of, cluster::waiting_bytes};
}

/// A thread of libzmq may have passed on a subscription before another one says this.
void proxy_readers::connected(int fd, clock::time_point now) {
  const auto found = all_.find(fd);
  if (found != all_.end() && !found->second.accepted)
    found->second.accepted = true;
  else
    add(fd, now).accepted = true;
}

proxy_readers::reader& proxy_readers::add(int fd, clock::time_point now) {
  lost(fd);
  return all_
      .emplace(fd,
               reader{.address = os_.address(fd), .prefixes = {}, .with_it = {most_patience_, now}})
      .first->second;
}

void proxy_readers::lost(int fd) {
  const auto found = all_.find(fd);
  if (found == all_.end())
    return;
  if (found->second.slow_bytes > 0)
    recovered(found->second, "is gone");
  subscriptions_ -= found->second.prefixes.size();
  all_.erase(found);
}

void proxy_readers::note(int fd, const subscription& what, clock::time_point now) {
  const auto found = all_.find(fd);
  if (found == all_.end() && os_.address(fd).empty())
    return; // it is gone already
  auto& prefixes = (found == all_.end() ? add(fd, now) : found->second).prefixes;
  if (!what.added) {
    if (const auto known = prefixes.find(what.prefix); known != prefixes.end()) {
      prefixes.erase(known);
      --subscriptions_;
    }
  } else if (prefixes.size() < max_prefixes && prefixes.emplace(what.prefix).second) {
    ++subscriptions_;
  }
}

void proxy_readers::begin_waiting(std::string_view topic, clock::time_point now) {
  waiting_since_ = now;
  waited_for_.clear();
  for (auto& [fd, each] : all_)
    if (is_subscribed(each, topic)) {
      each.waiting_bytes = os_.waiting_bytes(fd);
      each.changed = now;
      waited_for_.emplace_back(fd, &each);
    }
}

bool proxy_readers::deserve_more(clock::time_point now) {
  bool data_wait = false;
  bool result = false;
  for (const auto& [fd, each] : waited_for_) {
    const auto bytes = os_.waiting_bytes(fd);
    if (each->slow_bytes > 0 && bytes == each->slow_bytes)
      continue; // as libzmq passed it over then, it does still
    if (bytes != each->waiting_bytes)
      each->changed = now;
    each->waiting_bytes = bytes;
    data_wait = data_wait || bytes > 0;
    result = result || (bytes > 0 && now - each->changed < each->with_it.left(now));
  }
  const auto waited = now - waiting_since_;
  // With no data waiting anywhere it is only a moment until there is room.
  return result ||
         waited < std::min<std::chrono::nanoseconds>(tuning::least_patience, most_patience_) ||
         (!data_wait && waited < most_patience_);
}

void proxy_readers::end_waiting(clock::time_point now) {
  bool found = false;
  for (const auto& [fd, each] : waited_for_) {
    if (each->waiting_bytes == 0)
      continue;
    found = true;
    each->with_it.wasted(now - each->changed);
    if (each->slow_bytes > 0) // this message is counted already
      continue;
    each->slow_bytes = each->waiting_bytes;
    ++each->dropped;
    ++dropped_;
    ++slow_;
    ++times_slow_;
    log(log_level::warning, name_of(*each) + " does not read: it loses messages until it does");
  }
  dropped_ += found ? 0 : 1; // the queue of an unknown reader was full
}

void proxy_readers::count_dropped(std::string_view topic) {
  if (slow_ == 0)
    return;
  for (auto& [fd, each] : all_)
    if (each.slow_bytes > 0 && is_subscribed(each, topic)) {
      ++each.dropped;
      ++dropped_;
    }
}

void proxy_readers::look_again() {
  for (auto& [fd, each] : all_)
    if (each.slow_bytes > 0 && os_.waiting_bytes(fd) <= each.slow_bytes / 2)
      recovered(each, "reads again");
}

void proxy_readers::recovered(reader& who, const std::string& how) {
  log(log_level::info,
      name_of(who) + " " + how + "; messages that it lost: " + std::to_string(who.dropped));
  who.slow_bytes = 0;
  who.dropped = 0;
  --slow_;
}

/// Each step goes to a shorter prefix of the topic, so there are not many.
bool proxy_readers::is_subscribed(const reader& who, std::string_view topic) {
  for (auto at = who.prefixes.upper_bound(topic); at != who.prefixes.begin();
       at = who.prefixes.upper_bound(topic)) {
    const auto& candidate = *--at;
    const auto differs = std::ranges::mismatch(candidate, topic).in1;
    if (differs == candidate.end())
      return true;
    topic = topic.substr(0, static_cast<std::size_t>(differs - candidate.begin()));
  }
  return false;
}

/// With the name of a node of the layout, which subscribes to the topic of its name.
std::string proxy_readers::name_of(const reader& who) {
  constexpr std::string_view of_nodes = "zeek.cluster.node.";
  const auto found = who.prefixes.lower_bound(of_nodes);
  auto result = "the reader at " + who.address;
  if (found == who.prefixes.end() || !found->starts_with(of_nodes))
    return result;
  auto name = found->substr(of_nodes.size());
  if (name.ends_with('.'))
    name.pop_back();
  return result + " (" + name + ")";
}

} // namespace pubsub::cluster
