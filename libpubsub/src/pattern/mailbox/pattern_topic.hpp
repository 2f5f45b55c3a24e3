// The topics by which the parts of a pattern reach each other.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::pattern {

/// Makes the topics of one kind, `<kind>/<name>/`, with each slash in the name as `%2F`, and `%` as
/// `%25`. A subscription also matches longer topics: written like this, the topic of a name is no
/// prefix of another's.
struct topic_kind {
  std::string_view kind; ///< as `remote/service`

  std::string operator()(std::string_view name) const {
    std::string result{kind};
    result.push_back('/');
    for (const char c : name)
      c == '/' ? result.append("%2F") : c == '%' ? result.append("%25") : result.append(1, c);
    return result.append("/");
  }
  std::string operator()(const endpoint_id& id) const { return (*this)(to_string(id)); }
};

} // namespace pubsub::pattern
