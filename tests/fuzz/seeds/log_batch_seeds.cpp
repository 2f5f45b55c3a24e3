// Inputs that fuzz_log_batch begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include "support/cluster_capture.hpp"

namespace pubsub::fuzz::log_batch_seeds {

namespace {

std::vector<std::string> seeds() {
  const std::string names = "00000001 41 00000001 42 00000001 43 00000001 44 ";
  const std::string column = "00000001 00 00000001 78 ";
  std::vector<std::string> out{
      from_hex(names + column +
               "00000005 00000016 00 00000001 00000005 00000016 01"
               "3ff0000000000000"),
      from_hex(names + column +
               "0000000e 00000007 01 00000001 0000000e 00000007 01"
               "0000000000000001 00000007 00000000 01 00000001 61"),
      from_hex(names + "00000001 01 00000001 79 00000001 78 00000003 00000000 01 00000000"),
      from_hex(names + "00000000 00000001"),
      from_hex(names + "ffffffff"),
      from_hex(names + column + "00000063 00000016 00"),
      from_hex("ffffffff")};
  for (const auto& message : test::captured("with_outside_member_as_logger"))
    if (message.socket == "PULL")
      out.push_back(as_text(message.frames.at(3)));
  return out;
}

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (int type = 0; type < 23; ++type)
    out.push_back(std::string{"\0\0\0", 3} + static_cast<char>(type) + from_hex("00000000 01"));
  out.push_back(from_hex("00000001"));
  return out;
}

const target_seeds announced{"log_batch", seeds, words};

} // namespace

} // namespace pubsub::fuzz::log_batch_seeds
