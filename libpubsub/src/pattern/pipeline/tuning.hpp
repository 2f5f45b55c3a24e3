// The tuned constants of pipelines. All were judged by `pubsub bench batch-ack` with tasks of 0, 10
// and 1,000 us and batches of 1, 50 and 1000.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern::tuning {

/// A batch takes about this time to be worked on: what a message costs is little beside it, and no
/// queue has much to do when the others have finished.
inline constexpr std::chrono::microseconds batch_time{1000};
/// A queue that has nothing to do gets at least this much work at a time.
inline constexpr std::chrono::microseconds short_batch_time{60};
/// A queue gets at most this much work in advance, and less towards the end.
inline constexpr std::chrono::milliseconds work_ahead{100};
/// Tasks of a batch that has not arrived after this time are sent again: links lose messages only
/// where they break.
inline constexpr std::chrono::milliseconds sending_time{1000};
inline constexpr std::size_t max_batch_tasks = 4096;
/// Tasks by which the mean time of a task is smoothed.
inline constexpr std::int64_t remembered_tasks = 64;

/// A batch that is not full is held back at most for this time,
inline constexpr std::chrono::milliseconds longest_held_back{1};
/// and only where the batch before was begun less than this time ago.
inline constexpr std::chrono::milliseconds burst{5};
/// Tasks, and bytes, that are added between two looks at whether a batch is due.
inline constexpr std::size_t tasks_between_looks = 256;
inline constexpr std::size_t bytes_between_looks = 16 * 1024;

/// Exchanges of one name are of the same age if they differ by less: a message may take as long.
inline constexpr std::chrono::seconds same_age{1};

/// Between reports that say no more than that the queue is there. Two of them fit into the shortest
/// `exchange_options::liveness_timeout`.
inline constexpr std::chrono::milliseconds time_between_reports{250};
/// A worker that finds nothing asks exchanges for more after this time: they may hold tasks back.
inline constexpr std::chrono::milliseconds time_to_ask{2};
/// Acknowledgements of shorter work than this go together: a message costs as much.
inline constexpr std::chrono::microseconds time_between_acknowledgements{25};
/// Between reports that the last task has been taken.
inline constexpr std::chrono::milliseconds time_between_last_tasks{5};
/// Tasks between two readings of the clock that measures them.
inline constexpr std::uint64_t tasks_of_a_lap = 64;

} // namespace pubsub::pattern::tuning
