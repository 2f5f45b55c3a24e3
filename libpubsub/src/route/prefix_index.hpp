// Prefix match: which targets want a topic. Pure: no I/O, no threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pubsub {

/// Maps topic prefixes to small integers that the caller gives a meaning. Built once, then only
/// read; const access is concurrent. A match costs one hash look-up per distinct prefix length that
/// is not longer than the topic.
class prefix_index {
public:
  using target = std::uint32_t;

  void add(std::string_view prefix, target who);
  /// Targets with a prefix of `topic`, ascending, each once.
  std::vector<target> match(std::string_view topic) const;

private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::unordered_map<std::string, std::vector<target>, text_hash, std::equal_to<>> targets_;
  std::vector<std::size_t> lengths_; // distinct prefix lengths, ascending
};

} // namespace pubsub
