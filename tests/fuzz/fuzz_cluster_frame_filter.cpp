// Any bytes as what a WebSocket server sends: the same comes out however they are cut, and nothing
// but kinds of frames is changed.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "cluster/client/frame_filter.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace pubsub::fuzz {

namespace {

std::string passed(std::string text, std::size_t step) {
  cluster::frame_filter filter;
  for (std::size_t at = 0; at < text.size(); at += step)
    filter.pass(std::span{text}.subspan(at, std::min(step, text.size() - at)));
  return text;
}

void try_input(std::string_view input) {
  const std::string before{input};
  const auto after = passed(before, before.size() + 1);
  for (const std::size_t step : {1, 2, 7})
    check(passed(before, step) == after, "where bytes are cut does not matter");
  for (std::size_t i = 0; i < before.size(); ++i)
    check(before[i] == after[i] || ((before[i] & 15) == 1 && after[i] == (before[i] ^ 3)),
          "only text frames become frames of bytes");
  const auto answer = before.find("\r\n\r\n");
  check(answer != before.npos || after == before, "the answer to the request stays as it is");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
