#include "route/minimal_filter.hpp"

#include <algorithm>
#include <string>

namespace pubsub {

filter minimal_filter(std::vector<std::string_view> prefixes) {
  std::ranges::sort(prefixes);
  std::vector<std::string> kept;
  for (const auto each : prefixes) // what one covers comes right after it
    if (kept.empty() || !each.starts_with(kept.back()))
      kept.emplace_back(each);
  return filter{kept};
}

} // namespace pubsub
