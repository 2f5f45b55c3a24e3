// Metrics, health and a status page of an endpoint over HTTP: the component pubsub::metrics.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Why an endpoint is not ready to be given work, in one line; nothing: it is ready.
using readiness_check = std::function<std::optional<std::string>(const endpoint&)>;

/// What `metrics_options` has unless another is given. Not ready is an endpoint that connects to
/// peers (`endpoint::peer`) and has none of them, or of whose links more than half have a full
/// queue.
PUBSUB_EXPORT std::optional<std::string> why_not_ready(const endpoint& ep);

/// More metrics in the text format of Prometheus (0.0.4): whole lines, with the types of their own.
using metrics_source = std::function<std::string()>;

struct metrics_options {
  /// Asked by `/readyz` and the page, at most ten times a second, on the server's thread: it must
  /// not wait for long. What it throws counts as not ready.
  readiness_check readiness = why_not_ready;
  /// What `/metrics` has behind the metrics of the endpoint; called as `readiness` is. What it
  /// throws is left out.
  metrics_source more_metrics;
  /// Connections at a time; one more takes the place of the one that has been idle for longest.
  std::size_t max_connections = 64;
  /// Of those, connections that follow `/events`; one more is refused with 503.
  std::size_t max_watchers = 16;
  /// A connection that has not sent a whole request by then, or has not read its answer, is cut.
  std::chrono::nanoseconds request_timeout = std::chrono::seconds{30};
};

/// Serves HTTP/1.1 until it is destroyed, on a thread of its own. Answers GET and HEAD of:
/// `/metrics` (`endpoint::metrics_text` and `pubsub_ready`), `/healthz` (200 as long as the
/// endpoint answers),
/// `/readyz` (200, or 503 and the reason), `/status` (`endpoint::status_text`), `/network` (the
/// nodes of the network, as JSON), `/events` (the last two as server-sent events, every second) and
/// `/` (a page that shows them). Answers are up to 0.1 s old. Whoever can connect sees all of it:
/// there is no encryption and no password (docs/security.md).
class PUBSUB_EXPORT metrics_server {
public:
  /// Listens at `host:port` (or `http://host:port/`); IPv6 as `[v6]:port`, port 0 picks one, an
  /// empty host or `*` means every address. The endpoint may be moved or destroyed before the
  /// server. Errors: invalid_argument, address_in_use, cannot_listen.
  static expected<metrics_server> start(const endpoint& ep, std::string_view address,
                                        metrics_options options = {});

  metrics_server(metrics_server&&) noexcept;
  metrics_server& operator=(metrics_server&&) noexcept;
  /// Cuts all connections; waits for nothing but an answer that is being made.
  ~metrics_server();

  std::uint16_t port() const noexcept;

private:
  class running;
  explicit metrics_server(std::unique_ptr<running> state);

  std::unique_ptr<running> state_;
};

} // namespace pubsub
