// What a client measures, and how requests go in each mode: which plan the automatic mode prefers.
// Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <pubsub/pattern/remote_options.hpp>

namespace pubsub::pattern {

/// A request that a client has sent.
struct sent_request {
  std::uint64_t operations = 0;
  std::size_t size_bytes = 0;
  std::chrono::steady_clock::time_point at{};
  std::uint64_t first_place = 0; ///< of its operations, at the instance
};

/// A reply to it, or to the last of several.
struct received_reply {
  std::chrono::steady_clock::time_point at{};
  std::chrono::nanoseconds here{0}; ///< since the request was sent, the server had it for so long
  std::chrono::nanoseconds busy{0}; ///< in handlers, of all operations in the reply
  std::uint64_t operations = 0;
  std::size_t size_bytes = 0;
  bool prompt = false; ///< a thread was waiting for it when it came
};

/// Adds to what is known of the operation. Averages follow what is measured. So does the latency
/// where a trip takes longer; a shorter one counts at once, since what disturbs a trip makes it
/// longer. Of long messages and of replies that lay unread only shorter trips count.
void measure(const sent_request& request, const received_reply& reply, remote_conditions& of);

/// A plan, and what follows from its mode.
struct request_plan : remote_plan {
  bool one_per_instance = false; ///< requests at a time
  bool ordered = true;           ///< results complete in the order of the calls
  /// Requests that can leave at the same time share a message, and wait for no others.
  std::size_t requests_in_a_message = 1;
};

/// The plan of a mode that does not choose; of mode auto, what it begins with.
request_plan fixed_plan(const remote_options& options) noexcept;
/// All that wait in one request to each instance.
request_plan bulk_plan() noexcept;

/// The instances that are there, and the workers of all of them.
struct service_size {
  std::size_t instances = 1;
  std::size_t workers = 1;
};

/// Seconds until `n` operations are done, without the transfer of their bytes, which takes the same
/// time however they are divided: requests pass the client and the workers side by side, as far as
/// the window lets them (docs/patterns/remote.md, `t_windowed`).
double predicted_seconds(const remote_conditions& at, const service_size& servers,
                         const remote_plan& plan, std::size_t n) noexcept;

/// The plan that takes least, for so many operations that wait.
request_plan best_plan(const remote_conditions& at, const service_size& servers, std::size_t n,
                       const remote_options& options) noexcept;

} // namespace pubsub::pattern
