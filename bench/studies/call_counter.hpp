// System calls of other processes, counted one by one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <sys/types.h>

namespace pubsub::tool::bench {

/// Traces all threads that these children have now, calls `begin`, and counts the system calls they
/// enter until `done` returns true; `done` is asked after each of them. Traced, a process is
/// several times slower: so count in a run of its own. Nothing where the system does not let us
/// trace them. Blocks until then; they must not all fall silent.
std::optional<std::uint64_t> count_system_calls(const std::vector<pid_t>& children,
                                                const std::function<void()>& begin,
                                                const std::function<bool()>& done);

} // namespace pubsub::tool::bench
