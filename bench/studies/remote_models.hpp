// What the models say that remote operations take, and what they are told.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "remote/remote_work.hpp"

namespace pubsub::tool::bench {

/// A network, a server and a client as the models see them: seconds, and bytes per second.
struct remote_parameters {
  double latency_s = 0; ///< t_lat: there and back, with what a message costs whatever it carries
  double up_bytes_per_s = 1e9; ///< client to server
  double down_bytes_per_s = 1e9;
  double up_header_bytes = 0; ///< what a request has beside its arguments
  double down_header_bytes = 0;
  double request_s = 0; ///< what a request costs where many follow each other,
  double refill_s = 0;  ///< and where each has waited for room in the window
  /// t_server_op, by kind: an operation, and for each byte of its result.
  double operation_s[2] = {0, 0};
  double operation_byte_s[2] = {0, 0};
};

/// What tells modes apart: operations in a request, and those sent and not answered.
struct remote_shape {
  std::size_t bulk = 1;
  std::size_t window = 1;
};

/// Of a mode that is fixed, for `n` operations, as `remote_options` have it.
remote_shape shape_of(remote_mode mode, std::size_t n);

/// Seconds by the article's models: t_sync, t_bulk, t_async and t_pipeline, the last two with a
/// window, as `t_windowed` of libpubsub.models has them. A reply leaves in pieces where it is long
/// or takes long, so that execution and transfer overlap within a bulk too. `auto` takes what the
/// best of the others does.
double modelled_seconds(const remote_parameters& at, remote_mode mode, const remote_work& what);

/// Measures once, in a mode.
using remote_measure = std::function<remote_sample(remote_mode, const remote_work&)>;

/// Finds the parameters: each from a measurement of its own, or the difference of two. `big_bytes`:
/// of a result whose transfer takes much longer than the latency.
remote_parameters fit_parameters(const remote_measure& measure, std::size_t big_bytes);

} // namespace pubsub::tool::bench
