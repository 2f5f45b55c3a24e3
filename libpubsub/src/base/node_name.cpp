// SPDX-License-Identifier: BSD-3-Clause
#include "base/node_name.hpp"

#include <unistd.h>

namespace pubsub {

std::string host_name() {
  char found[max_node_name_bytes + 1] = {};
  ::gethostname(found, max_node_name_bytes); // a longer one is cut
  std::string result{found};
  std::ranges::replace_if(
      result,
      [](char c) {
        return !is_node_name({&c, 1});
      },
      '-');
  return result;
}

} // namespace pubsub
