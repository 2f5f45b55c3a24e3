// How long operations take in a mode, and which mode takes least (article 004). Pure.
#pragma once

#include <chrono>
#include <cstddef>

#include <pubsub/pattern/remote_options.hpp>

namespace pubsub::pattern {

inline double seconds(std::chrono::nanoseconds x) noexcept {
  return std::chrono::duration<double>(x).count();
}

/// A plan, and what follows from its mode.
struct request_plan {
  remote_mode mode = remote_mode::sync;
  std::size_t bulk_operations = 1;
  std::size_t window_operations = 1;
  std::size_t requests_per_instance = 0; ///< at a time; 0: no limit
  bool ordered = true;                   ///< results complete in the order of the calls
  /// Requests that can leave at the same time share a message, and wait for no others.
  std::size_t requests_in_a_message = 1;

  remote_plan public_plan() const noexcept { return {mode, bulk_operations, window_operations}; }
};

/// The plan of a mode that does not choose.
request_plan fixed_plan(const remote_options& options) noexcept;
/// All that wait in one request to each instance.
request_plan bulk_plan() noexcept;

/// Who is there to do them.
struct service_size {
  std::size_t instances = 1;
  std::size_t workers = 1; ///< of all instances
};

/// Seconds until `n` operations are done: requests of so many operations each pass four segments
/// side by side (the article's pipeline model), while the window lets them: the client, the way
/// there, the server's workers, the way back. The other models are cases of this: sync has a window
/// of one operation, bulk one request, async requests of one operation.
double predicted_seconds(const remote_conditions& at, const service_size& servers,
                         const request_plan& plan, std::size_t n) noexcept;

/// The plan that takes least, for so many operations that wait.
request_plan best_plan(const remote_conditions& at, const service_size& servers, std::size_t n,
                       const remote_options& options) noexcept;

/// Whether results come sooner over several connections side by side (article 004, *TCP
/// considerations*).
bool gains_by_connections(const remote_conditions& at) noexcept;

} // namespace pubsub::pattern
