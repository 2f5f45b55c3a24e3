#include "route/prefix_index.hpp"

#include <algorithm>

namespace pubsub {

void prefix_index::add(std::string_view prefix, target who) {
  targets_[std::string{prefix}].push_back(who);
  auto pos = std::lower_bound(lengths_.begin(), lengths_.end(), prefix.size());
  if (pos == lengths_.end() || *pos != prefix.size())
    lengths_.insert(pos, prefix.size());
}

std::vector<prefix_index::target> prefix_index::match(std::string_view topic) const {
  std::vector<target> result;
  for (auto length : lengths_) {
    if (length > topic.size())
      break;
    if (auto found = targets_.find(topic.substr(0, length)); found != targets_.end())
      result.insert(result.end(), found->second.begin(), found->second.end());
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace pubsub
