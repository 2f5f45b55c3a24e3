// Whether other nodes know our subscriptions: questions, answers, and their route through the
// network.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "link/letter.hpp"
#include "node/routing/routing_snapshot.hpp"
#include "route/reports.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

/// How far subscriptions of a node are known: the incarnation of that node, and the number of its
/// last report.
using filter_version = std::pair<std::uint64_t, std::uint64_t>;

/// Later starts of an endpoint with the same id have a higher one.
inline std::uint64_t new_incarnation() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// What nodes have said they know of our subscriptions. A value; not thread-safe.
class readiness {
public:
  /// The nodes within reach that have not said they know that much.
  std::vector<endpoint_id> ignorant_of(const filter_version& subscribed,
                                       const link_directory& within_reach) const {
    std::vector<endpoint_id> result;
    for (const auto& [node, via] : within_reach)
      if (const auto found = known_.find(node); found == known_.end() || found->second < subscribed)
        result.push_back(node);
    return result;
  }
  void note(const filter_answer& answer) {
    auto& known = known_[answer.from];
    known = std::max(known, filter_version{answer.incarnation, answer.number});
  }

private:
  std::map<endpoint_id, filter_version> known_;
};

/// To the next hops, each with its part of the nodes.
inline letters ask_along(const filter_question& question, const link_directory& directions) {
  std::map<std::shared_ptr<peer_link>, std::vector<endpoint_id>> parts;
  for (const auto& node : question.to)
    if (const auto path = directions.find(node); path != directions.end())
      parts[path->second].push_back(node);
  letters result;
  for (auto& [via, nodes] : parts)
    result.push_back(
        {{via}, wire::make_question({question.from, question.hops_left, std::move(nodes)})});
  return result;
}

/// On to the node that the answer is for, with one hop less left; nothing if it goes no further.
/// `make` writes its frame.
template <class Answer, class Make>
letters answer_along(Answer answer, const link_directory& directions, Make make) {
  const auto path = directions.find(answer.to);
  if (path == directions.end() || answer.hops_left-- <= 1)
    return {};
  letters result;
  result.push_back({{path->second}, make(answer)});
  return result;
}

} // namespace pubsub
