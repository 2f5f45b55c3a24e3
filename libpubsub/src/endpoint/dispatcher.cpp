#include "endpoint/dispatcher.hpp"

namespace pubsub {

void dispatcher::reset(std::uint64_t version) {
  last_ = nullptr;
  routes_.clear();
  snapshot_ = router_.snapshot();
  version_ = version;
}

const route& dispatcher::find(std::string_view topic) {
  auto found = routes_.find(topic);
  if (found == routes_.end())
    found = routes_.emplace(std::string{topic}, match(topic)).first;
  last_topic_ = found->first;
  last_ = &found->second;
  return *last_;
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
  return result;
}

std::shared_ptr<link> dispatcher::link_to(const endpoint_id& peer) const {
  for (std::size_t i = 0; i < snapshot_->peers.size(); ++i)
    if (snapshot_->peers[i] == peer)
      return snapshot_->links[i];
  return nullptr;
}

} // namespace pubsub
