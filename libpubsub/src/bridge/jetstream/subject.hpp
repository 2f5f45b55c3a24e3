// Subjects of NATS.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace pubsub::bridge {

/// Whether records can be published on it: parts between dots, none of which is empty or a
/// wildcard. Those that begin with `$` belong to the server.
bool is_subject(std::string_view text) noexcept;
/// The same for those that may have the wildcards `*` and `>`.
bool is_filter(std::string_view text) noexcept;
/// The nearest subject: `/` becomes `.`, empty parts go, and what is not allowed becomes `_`. Empty
/// if nothing is left, or it is too long.
std::string to_subject(std::string_view name);
/// Whether a stream or a consumer may have this name.
bool is_asset_name(std::string_view text) noexcept;

} // namespace pubsub::bridge
