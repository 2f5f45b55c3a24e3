// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/bridge/counters.hpp>

#include "bridge/mapping/record_source.hpp"

namespace pubsub::bridge {

std::vector<std::pair<std::string_view, std::uint64_t>> by_reason(const rejections& x) {
  return {{"announcement", x.announcements},
          {"not_a_record", x.not_a_record},
          {"unknown_columns", x.unknown_columns},
          {"no_such_field", x.no_such_field},
          {"bad_name", x.bad_name},
          {"bad_payload", x.bad_payload},
          {"refused", x.refused},
          {"timed_out", x.timed_out},
          {"returned", x.returned},
          {"already_there", x.already_there},
          {"unwanted", x.unwanted},
          {"dead", x.dead}};
}

std::string_view name_of(rejection why) {
  rejections one;
  one.*why = 1;
  for (const auto& [name, n] : by_reason(one))
    if (n > 0)
      return name;
  return {};
}

} // namespace pubsub::bridge
