// How requests go in each mode, and which plan the automatic mode prefers. Pure.
#pragma once

#include <cstddef>

#include <pubsub/pattern/remote_options.hpp>

namespace pubsub::pattern {

/// A plan, and what follows from its mode.
struct request_plan : remote_plan {
  std::size_t requests_per_instance = 0; ///< at a time; 0: no limit
  bool ordered = true;                   ///< results complete in the order of the calls
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
