// Uses the component json.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/format.hpp>

int main() {
  auto value = pubsub::from_json(R"({"@data-type": "count", "data": 42})");
  return value && *value == pubsub::data{pubsub::count{42}} ? 0 : 1;
}
