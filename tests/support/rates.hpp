// Rates of links as tests write them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pubsub::test {

/// In bits per second, as links have it: a byte takes a microsecond.
inline constexpr double mb_per_s = 8e6;

} // namespace pubsub::test
