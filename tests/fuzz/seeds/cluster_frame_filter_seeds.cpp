// Inputs that fuzz_cluster_frame_filter begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::cluster_frame_filter_seeds {

namespace {

std::vector<std::string> seeds() {
  const std::string answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
  const std::string longer(200, '\x81');
  return {answer, answer + from_hex("8103616263") + from_hex("8900") + from_hex("880203e8"),
          answer + from_hex("817e00c8") + longer,
          answer + from_hex("017f00000000000000c8") + longer + from_hex("80024142")};
}

std::vector<std::string> words() {
  return {"\r\n\r\n", from_hex("8100"), from_hex("817e"), from_hex("817f")};
}

const target_seeds announced{"cluster_frame_filter", seeds, words};

} // namespace

} // namespace pubsub::fuzz::cluster_frame_filter_seeds
