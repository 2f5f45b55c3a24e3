// Inputs that fuzz_batch begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::batch_seeds {

namespace {

std::vector<std::string> seeds() {
  const auto batch = [](const std::string& hops, const std::string& messages,
                        const std::string& records) {
    return from_hex("01" + hops + "0003" + messages + "80000001 0000000000000007" +
                    std::string(32, 'a') + records);
  };
  return {batch("10", "00000001", "00000002 00 0101"),
          batch("0f", "00000002", "00000002 00 0101 00000001 00 00"),
          batch("00", "00000002", "00000002 00 0101 00000001 07 00"),
          batch("11", "00000001", "00000002 00 0101"),
          batch("10", "00000000", ""),
          batch("10", "ffffffff", ""),
          batch("10", "00000002", "00000002 00 0101"),
          batch("10", "00000001", "00000009 00 0101"),
          batch("10", "00000001", "00000002 00 0101 00"),
          from_hex("0203ffff"),
          from_hex("02000003 022f61 01" + std::string(32, 'b') + "00 00"),
          from_hex("02fe0003 00 00 00 00 00 00"),
          from_hex("0200000300ff"),
          from_hex("06 01 00010000"),
          from_hex("06 10 00010000"),
          from_hex("06 01 0001"),
          from_hex("05"),
          from_hex("0b"),
          {}};
}

std::vector<std::string> words() {
  return binary_words();
}

const target_seeds announced{"batch", seeds, words};

} // namespace

} // namespace pubsub::fuzz::batch_seeds
