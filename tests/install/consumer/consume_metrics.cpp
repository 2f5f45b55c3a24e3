// A program that links pubsub::metrics and needs no Boost to be installed.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/metrics/metrics_server.hpp>

int main() {
  const pubsub::endpoint ep;
  const auto server = pubsub::metrics_server::start(ep, "127.0.0.1:0");
  return server && server->port() != 0 && !pubsub::why_not_ready(ep) ? 0 : 1;
}
