// Strings as JSON has them, for what engines are told and for records that have no value of their
// own. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace pubsub::bridge {

/// Within quotation marks. What is not UTF-8 becomes U+FFFD, byte by byte.
void append_json_string(std::string& out, std::string_view text);

} // namespace pubsub::bridge
