// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/client/frame_filter.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace pubsub::cluster;

namespace {

const std::string answer = "HTTP/1.1 101 Switching\r\nA: \x81\r\n\r\n";

/// A frame as a server sends it.
std::string frame(char kind, const std::string& content) {
  std::string size;
  if (content.size() < 126) {
    size = static_cast<char>(content.size());
  } else {
    const int bytes = content.size() < 65'536 ? 2 : 8;
    size = bytes == 2 ? '\x7e' : '\x7f';
    for (int i = bytes - 1; i >= 0; --i)
      size += static_cast<char>(content.size() >> (8 * i));
  }
  return kind + size + content;
}

/// What comes out where so many bytes go in at a time.
std::string filtered(std::string bytes, std::size_t step) {
  frame_filter filter;
  for (std::size_t at = 0; at < bytes.size(); at += step)
    filter.pass(std::span{bytes}.subspan(at, std::min(step, bytes.size() - at)));
  return bytes;
}

} // namespace

TEST_CASE("frames of text become frames of bytes, and nothing else changes") {
  std::string before = answer;
  std::string after = answer;
  for (const std::size_t size : {0, 1, 125, 126, 127, 65'535, 65'536, 70'000}) {
    const std::string content(size, '\x81');
    before += frame('\x81', content);
    after += frame('\x82', content);
  }
  const auto others = frame('\x01', "begin") + frame('\x00', "") + frame('\x89', "\x81ping") +
                      frame('\x80', "end") + frame('\x82', "bytes") + frame('\x88', "\x03\xe8");
  const auto others_after = frame('\x02', "begin") + others.substr(frame('\x01', "begin").size());
  for (const std::size_t step : {1U, 7U, 4096U, 1U << 20U})
    CHECK(filtered(before + others, step) == after + others_after);
}
