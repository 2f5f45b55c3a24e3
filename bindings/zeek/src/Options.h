// What scripts say about the backend: constants of the module Cluster::Backend::Pubsub.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "member_options.hpp"

namespace pubsub_plugin {

namespace core = pubsub::zeek::backend;

/// Of a constant or variable with this name in the module, which must be of the type.
std::string text_option(std::string_view name);
std::vector<std::string> texts_option(std::string_view name);
std::uint64_t count_option(std::string_view name);
bool flag_option(std::string_view name);
std::chrono::nanoseconds interval_option(std::string_view name);
/// The label of an enum value, without its module.
std::string label_option(std::string_view name);

/// Ends Zeek with a message where options do not fit together.
core::member_options read_options();

} // namespace pubsub_plugin
