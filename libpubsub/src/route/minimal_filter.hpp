// A filter of many prefixes at once. Pure: no I/O, no threads.
#pragma once

#include <string_view>
#include <vector>

#include <pubsub/filter.hpp>

namespace pubsub {

/// The filter that matches what any of `prefixes` matches, of which only those it keeps are copied.
/// Takes n log n steps in whatever order they come.
filter minimal_filter(std::vector<std::string_view> prefixes);

} // namespace pubsub
