// The topics by which the parts of a pattern reach each other.
#pragma once

#include <string>
#include <string_view>

namespace pubsub::pattern {

/// `<pattern>/<kind>/<name>/`, with each slash in the name as `%2F`, and `%` as `%25`. A
/// subscription also matches longer topics: written like this, the topic of a name is no prefix of
/// another's.
inline std::string pattern_topic(std::string_view pattern, std::string_view kind,
                                 std::string_view name) {
  std::string result{pattern};
  result.append("/").append(kind).append("/");
  for (const char c : name)
    if (c == '/')
      result.append("%2F");
    else if (c == '%')
      result.append("%25");
    else
      result.push_back(c);
  return result.append("/");
}

} // namespace pubsub::pattern
