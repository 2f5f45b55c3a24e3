// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/topic_names.hpp"

#include <doctest/doctest.h>

using namespace pubsub::cluster;

namespace {

constexpr auto mapped = topic_names::mapped;
using prefixes = std::vector<std::string>;

} // namespace

TEST_CASE("topics of nodes have dots in the cluster and slashes outside") {
  const std::pair<const char*, const char*> spellings[] = {
      {"zeek.cluster.worker", "zeek/cluster/worker"},
      {"zeek.cluster.pool.proxy", "zeek/cluster/pool/proxy"},
      {"zeek.cluster.node.worker-1.", "zeek/cluster/node/worker-1/"},
      {"zeek.cluster.nodeid.zeromq_a_host.example.org_1_x.",
       "zeek/cluster/nodeid/zeromq_a_host.example.org_1_x/"},
  };
  for (const auto& [inside, outside] : spellings) {
    CHECK(to_outside(inside, mapped) == outside);
    CHECK(to_cluster(outside, mapped) == inside);
    CHECK(to_outside(inside, topic_names::as_they_are) == inside);
    CHECK(to_cluster(outside, topic_names::as_they_are) == outside);
  }
}

TEST_CASE("other topics are the same on both sides") {
  for (const auto* topic : {"", "my/topic", "my.topic", "zeek/control/id_value_response/manager",
                            "zeek/supervisor", "zeek.clusters.a", "zeek"}) {
    CHECK(to_outside(topic, mapped) == topic);
    CHECK(to_cluster(topic, mapped) == topic);
  }
}

TEST_CASE("a subscription brings all that begins with it on the other side") {
  CHECK(prefixes_in_cluster("my/", mapped) == prefixes{"my/"});
  CHECK(prefixes_in_cluster("", mapped) == prefixes{""});
  CHECK(prefixes_in_cluster("zeek/", mapped) == prefixes{"zeek/", "zeek.cluster."});
  CHECK(prefixes_in_cluster("ze", mapped) == prefixes{"ze", "zeek.cluster."});
  CHECK(prefixes_in_cluster("zeek/cluster/", mapped) == prefixes{"zeek.cluster."});
  CHECK(prefixes_in_cluster("zeek/cluster/wor", mapped) == prefixes{"zeek.cluster.wor"});
  CHECK(prefixes_in_cluster("zeek/cluster/node/", mapped) == prefixes{"zeek.cluster.node."});
  CHECK(prefixes_in_cluster("zeek/cluster/node/a.b", mapped) == prefixes{"zeek.cluster.node.a.b"});
  CHECK(prefixes_in_cluster("zeek/", topic_names::as_they_are) == prefixes{"zeek/"});
  CHECK(prefixes_outside("zeek.", mapped) == prefixes{"zeek.", "zeek/cluster/"});
  CHECK(prefixes_outside("zeek.cluster.node.a.b.", mapped) == prefixes{"zeek/cluster/node/a.b/"});
}
