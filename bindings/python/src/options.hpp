// Options as Python gives them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include <pubsub/filter.hpp>
#include <pubsub/queue_options.hpp>

#include "message.hpp"
#include "raise.hpp"
#include "waiting.hpp"

namespace pubsub::python {

inline filter make_filter(const std::vector<py::str>& topics) {
  filter result;
  for (const auto& topic : topics)
    result.add(topic_bytes(topic));
  return result;
}

inline std::vector<py::str> topic_names(const std::vector<std::string>& topics) {
  std::vector<py::str> result;
  for (const auto& topic : topics)
    result.push_back(py::reinterpret_steal<py::str>(make_topic(topic)));
  return result;
}

inline overflow_policy make_policy(const std::string& name) {
  for (const auto policy : all_overflow_policies)
    if (name == to_string(policy))
      return policy;
  raise(types.invalid_argument,
        "a queue policy is block, drop_oldest, drop_newest, conflate or disconnect, not " + name);
}

/// Raises InvalidArgument, which says `what` it is, for a time that is not more than 0.
inline std::chrono::milliseconds time_of(const char* what, double seconds) {
  if (!(seconds > 0))
    raise(types.invalid_argument, std::string{what} + " is a time in seconds, more than 0");
  return to_milliseconds(seconds);
}

/// Raises InvalidArgument for an unknown policy or an empty capacity.
inline queue_options make_queue_options(std::size_t capacity, std::size_t capacity_bytes,
                                        const std::string& policy) {
  queue_options result;
  result.capacity_messages = capacity;
  result.capacity_bytes = capacity_bytes;
  if (capacity == 0 || capacity_bytes == 0)
    raise(types.invalid_argument, "a queue holds at least one message and one byte");
  result.policy = make_policy(policy);
  return result;
}

} // namespace pubsub::python
