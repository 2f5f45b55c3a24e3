// SPDX-License-Identifier: BSD-3-Clause
#include "metrics/answers.hpp"

#include "base/log.hpp"
#include "format/json_members.hpp"

namespace pubsub {

namespace {

constexpr std::chrono::milliseconds kept_for{100};
// What the page gets every second: some hundreds of peers and thousands of nodes.
constexpr std::size_t max_json_bytes = 512 * 1024;

constexpr std::string_view json_type = "application/json";

} // namespace

template <class Make>
const shared_text& answers::recent(kept& x, Make&& make) {
  const auto now = clock::now();
  if (!x.text || now - x.since > kept_for) {
    x.text = std::make_shared<const std::string>(make());
    x.since = now;
  }
  return x.text;
}

shared_text answers::status() {
  return recent(status_, [&] { return endpoint_->status_text(max_json_bytes); });
}

shared_text answers::network() {
  return recent(network_, [&] { return endpoint_->network_text(max_json_bytes); });
}

std::optional<std::string> answers::why_not() {
  try {
    return readiness_ ? readiness_(*endpoint_) : std::nullopt;
  } catch (const std::exception& problem) {
    return std::string{"the check itself failed: "} + problem.what();
  } catch (...) {
    return "the check itself failed";
  }
}

shared_text answers::readiness() {
  return recent(readiness_text_, [&] {
    reason_ = why_not();
    return json_members{}
        .add_value("ready", reason_ ? "false" : "true")
        .add_value("reason", reason_ ? json_string(*reason_) : "null")
        .text();
  });
}

std::string answers::metrics() {
  auto result = endpoint_->metrics_text() +
                "# HELP pubsub_ready 1 while /readyz says that the node is ready, else 0.\n"
                "# TYPE pubsub_ready gauge\npubsub_ready " +
                (reason_ ? "0\n" : "1\n");
  try {
    if (more_metrics_)
      result += more_metrics_();
  } catch (const std::exception& problem) {
    log(log_level::error, std::string{"more metrics: "} + problem.what());
  }
  return result;
}

std::optional<answer> answers::find(std::string_view path) {
  if (path == "/metrics") {
    readiness();
    return answer{200, "text/plain; version=0.0.4; charset=utf-8",
                  recent(metrics_, [this] { return metrics(); })};
  }
  if (path == "/healthz") {
    const auto ask = [&] {
      endpoint_->counters(); // an endpoint that hangs lets the question hang
      return std::string{"ok\n"};
    };
    return answer{200, plain_text, recent(health_, ask)};
  }
  if (path == "/readyz") {
    readiness();
    return reason_ ? answer{503, plain_text, std::make_shared<const std::string>(*reason_ + "\n")}
                   : answer{200, plain_text, std::make_shared<const std::string>("ready\n")};
  }
  if (path == "/status")
    return answer{200, json_type, status()};
  if (path == "/network")
    return answer{200, json_type, network()};
  if (path == "/")
    return answer{200, "text/html; charset=utf-8",
                  std::make_shared<const std::string>(status_page)};
  return std::nullopt;
}

} // namespace pubsub
