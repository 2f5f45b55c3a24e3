// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/log_streams.hpp"

#include <doctest/doctest.h>

using pubsub::cluster::usual_stream;

TEST_CASE("logs have the names of Zeek's own scripts, or what these would call them") {
  CHECK(usual_stream("conn") == "Conn::LOG");
  CHECK(usual_stream("x509") == "X509::LOG");
  CHECK(usual_stream("known_hosts") == "Known::HOSTS_LOG");
  CHECK(usual_stream("flows") == "Flows::LOG");
  CHECK(usual_stream("Own") == "Own::LOG");
  CHECK(usual_stream("") == "::LOG");
}
