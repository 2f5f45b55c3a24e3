// Members of reports, found by their names: for lines that programs of this project have written,
// not for any JSON.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pubsub::tool::bench {

/// 0 where there is no such member.
double number_member(std::string_view json, std::string_view name);
/// Empty where there is no such member.
std::string string_member(std::string_view json, std::string_view name);
/// Of an array of numbers; empty where there is no such member.
std::vector<double> number_list_member(std::string_view json, std::string_view name);

} // namespace pubsub::tool::bench
