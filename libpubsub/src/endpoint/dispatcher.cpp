#include "endpoint/dispatcher.hpp"

#include <algorithm>

namespace pubsub {

void dispatcher::reset(std::uint64_t version) {
  last_ = nullptr;
  topics_.clear();
  routes_.clear();
  snapshot_ = router_.snapshot();
  version_ = version;
}

const route& dispatcher::find(std::string_view topic) {
  auto found = topics_.find(topic);
  if (found == topics_.end())
    found = topics_.emplace(std::string{topic}, intern(match(topic))).first;
  last_topic_ = found->first;
  last_ = found->second;
  return *last_;
}

const route* dispatcher::intern(route&& found) {
  if (routes_.size() <= max_shared_routes) {
    const auto same =
        std::ranges::find_if(routes_, [&](const route& x) { return x.exits == found.exits; });
    if (same != routes_.end())
      return &*same;
  }
  return &routes_.emplace_back(std::move(found));
}

route dispatcher::match(std::string_view topic) const {
  route result;
  if (open_.queues)
    for (auto position : snapshot_->local_index.match(topic))
      result.queues.push_back(snapshot_->queues[position]);
  if (open_.links)
    for (auto position : snapshot_->peer_index.match(topic))
      if (const auto& via = snapshot_->links[position]; via.get() != open_.except)
        result.links.push_back(via);
  for (const auto& each : result.queues)
    result.exits.push_back(each.get());
  for (const auto& each : result.links)
    result.exits.push_back(&each->out());
  return result;
}

std::shared_ptr<link> dispatcher::link_to(const endpoint_id& peer) const {
  for (std::size_t i = 0; i < snapshot_->peers.size(); ++i)
    if (snapshot_->peers[i] == peer)
      return snapshot_->links[i];
  return nullptr;
}

} // namespace pubsub
