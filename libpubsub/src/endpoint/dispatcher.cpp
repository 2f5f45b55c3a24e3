#include "endpoint/dispatcher.hpp"

namespace pubsub {

std::size_t dispatcher::exits_hash::operator()(exit_span to) const noexcept {
  std::size_t result = to.size();
  for (const auto* each : to)
    result = result * 31 + std::hash<const bounded_queue*>{}(each);
  return result;
}

void dispatcher::reset(std::uint64_t version) {
  last_ = nullptr;
  if (topics_.size() > max_cached_topics)
    topics_.clear();
  routes_.clear();
  snapshot_ = router_.snapshot();
  version_ = version;
}

const route& dispatcher::find(std::string_view topic) {
  auto found = topics_.find(topic);
  if (found == topics_.end())
    found = topics_.emplace(std::string{topic}, cached{}).first;
  auto& [to, version] = found->second;
  if (version != version_) {
    to = match(topic);
    version = version_;
  }
  last_topic_ = found->first;
  last_ = to;
  return *last_;
}

const route* dispatcher::match(std::string_view topic) {
  found_exits_.clear();
  found_queues_.clear();
  found_links_.clear();
  if (open_.queues)
    snapshot_->queues.match(topic, found_queues_);
  if (open_.links)
    snapshot_->links.match(topic, found_links_);
  std::erase_if(found_links_, [&](const auto* each) { return each->exit.get() == open_.except; });
  for (const auto* each : found_queues_)
    found_exits_.push_back(each->exit.get());
  for (const auto* each : found_links_)
    found_exits_.push_back(&each->exit->out());
  return remember();
}

/// The route of what was just found: one that other topics take as well, or a new one.
const route* dispatcher::remember() {
  const auto same = routes_.find(exit_span{found_exits_});
  if (same != routes_.end())
    return &*same;
  route fresh;
  for (const auto* each : found_queues_)
    fresh.queues.push_back(each->exit);
  for (const auto* each : found_links_)
    fresh.links.push_back(each->exit);
  fresh.exits = found_exits_;
  return &*routes_.insert(std::move(fresh)).first;
}

std::shared_ptr<link> dispatcher::link_to(const endpoint_id& peer) const {
  const auto found = snapshot_->peers->find(peer);
  return found == snapshot_->peers->end() ? nullptr : found->second;
}

} // namespace pubsub
