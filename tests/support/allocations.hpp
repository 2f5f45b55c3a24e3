// How often the calling thread has asked for heap memory: the test executable replaces operator
// new.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace pubsub::test {

/// Calls of operator new by this thread so far.
std::uint64_t allocations() noexcept;
/// Calls of operator new by all threads so far.
std::uint64_t allocations_of_all_threads() noexcept;

} // namespace pubsub::test
