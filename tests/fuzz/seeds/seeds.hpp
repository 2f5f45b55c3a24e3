// What the files *_seeds.cpp are made of: inputs for the fuzz targets, most of them from a real
// Broker.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_writer.hpp>

#include "support/golden.hpp"
#include "support/hex.hpp"

namespace pubsub::fuzz {

/// Announces the inputs that fuzz_<name> begins with, and the words of its dictionary. One static
/// object for each target; fuzz_seeds writes them all.
struct target_seeds {
  using make_strings = std::vector<std::string> (*)();

  target_seeds(std::string_view target, make_strings inputs, make_strings dictionary)
      : name(target), seeds(inputs), words(dictionary) {
    all().push_back(this);
  }
  static std::vector<const target_seeds*>& all() {
    static std::vector<const target_seeds*> list;
    return list;
  }

  std::string_view name;
  make_strings seeds;
  make_strings words;
};

inline std::string as_text(const test::buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string as_text(const data_writer& out) {
  return {reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size()};
}

inline std::string from_hex(std::string_view hex) {
  return test::text_from_hex(hex);
}

/// The bytes of every value in these files of tests/data/golden.
inline std::vector<std::string> golden_bytes(std::initializer_list<const char*> files) {
  std::vector<std::string> out;
  for (const auto* file : files)
    for (const auto& each : test::load_golden(file))
      out.push_back(as_text(each.bytes));
  return out;
}

/// Pieces of bin::v1 and of the frames around it: tags, lengths at their edges, types of Zeek.
inline std::vector<std::string> binary_words() {
  std::vector<std::string> out;
  for (const auto* hex : {"ffffffff0f", "8080808010", "8000", "0c02", "0d02", "0e01", "0e7f",
                          "050161", "0c020501610501", "ffffffffffffffff", "7ff0000000000000",
                          "fff0000000000000", "0000000000000001", "020000000000000001",
                          "0b03613a62", "5a45454b", "3c243e", "11111111111111111111111111111111"})
    out.push_back(from_hex(hex));
  return out;
}

} // namespace pubsub::fuzz
