// Inputs that fuzz_bin begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

namespace pubsub::fuzz::bin_seeds {

namespace {

std::vector<std::string> seeds() {
  auto out = golden_bytes({"data_bin_v1.json", "zeek_messages.json"});
  // sets and tables out of order, with keys that are so themselves
  for (const auto* hex :
       {"0c03 050162 050161 020000000000000001", "0d02 050162 00 050161 00",
        "0c02 0c02050162050161 0c02050161050163", "0d02 0e010100 0101 0e010101 0100",
        "0c02 0c02050162050161 0c02050161050162", "0c02 06ffffffffffffffffffffffffffffffff 00",
        "0c02 0a0000000000000002 0a0000000000000001", "0c02 090000000000000002 03ffffffffffffffff",
        "0c02 08000201 08000200",
        "0c02 0700000000000000000000ffff0a00000068 07000000000000000000000000000000007f",
        "0c02 044000000000000000 04bff0000000000000", "0c02 0d010501610100 0d010501610101",
        "0c02 0b0162 0b0161", "0c02 0101 0100", "0c02 0000"})
    out.push_back(from_hex(hex));
  return out;
}

std::vector<std::string> words() {
  return binary_words();
}

const target_seeds announced{"bin", seeds, words};

} // namespace

} // namespace pubsub::fuzz::bin_seeds
