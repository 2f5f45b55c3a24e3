// Regular expressions in conditions, by RE2: time linear in the text, whatever the expression.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include <pubsub/condition.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Needs the component pubsub::regex. For `condition_options::regex`: makes a matcher of an
/// expression in RE2's syntax. Text and expression are bytes (Latin-1), so that a text need not be
/// UTF-8; takes up to 1 MiB of memory. Errors: invalid_argument; the context says what is wrong.
PUBSUB_EXPORT expected<std::shared_ptr<const text_matcher>>
make_re2_matcher(std::string_view expression);

} // namespace pubsub
