// Inputs that fuzz_cluster_event begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include "support/cluster_capture.hpp"

namespace pubsub::fuzz::cluster_event_seeds {

namespace {

const std::string between{"\xff\0", 2};

std::vector<std::string> seeds() {
  std::vector<std::string> out{
      "a" + between + "b" + between + "broker-json-v1" + between +
          R"({"@data-type":"vector","data":[{"@data-type":"count","data":1},)"
          R"({"@data-type":"count","data":1},{"@data-type":"vector","data":[)"
          R"({"@data-type":"string","data":"e"},{"@data-type":"vector","data":[]}]}]})",
      "zeek.cluster.node.a.b.", "zeek/cluster/nodeid/x/"};
  for (const auto* list : {"with_real_logger", "malformed_to_worker_2"})
    for (const auto& message : test::captured(list)) {
      std::string joined;
      for (const auto frame : message.texts())
        joined += (joined.empty() ? "" : between) + std::string{frame};
      out.push_back(joined);
    }
  return out;
}

std::vector<std::string> words() {
  auto out = binary_words();
  for (const auto* word :
       {"broker-bin-v1", "broker-json-v1", "zeek.cluster.", "zeek/cluster/", "node."})
    out.emplace_back(word);
  out.push_back(between);
  return out;
}

const target_seeds announced{"cluster_event", seeds, words};

} // namespace

} // namespace pubsub::fuzz::cluster_event_seeds
