// Writes the seed corpus and the dictionary of each fuzz target: FOLDER/<target>/<number> and
// FOLDER/<target>.dict, in the form libFuzzer and AFL++ read.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;

/// A longer word is passed over by libFuzzer.
constexpr std::size_t max_word_bytes = 64;

std::string dictionary_entry(std::string_view word) {
  std::string out{'"'};
  for (const auto c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isprint(byte) != 0 && c != '"' && c != '\\') {
      out += c;
      continue;
    }
    char text[5];
    std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(byte));
    out += text;
  }
  return out + '"';
}

void write_file(const fs::path& file, const std::string& text) {
  std::ofstream out{file, std::ios::binary};
  out.exceptions(std::ios::failbit | std::ios::badbit);
  out << text << std::flush;
}

void write_inputs(const fs::path& folder, const std::vector<std::string>& inputs) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    write_file(folder / std::to_string(i), inputs[i]);
}

void write_dictionary(const fs::path& file, const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words)
    if (!word.empty() && word.size() <= max_word_bytes)
      text += dictionary_entry(word) + '\n';
  write_file(file, text);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const fs::path folder{argv[1]};
  for (const auto* each : pubsub::fuzz::target_seeds::all()) {
    const std::string name{each->name};
    write_inputs(folder / name, each->seeds());
    write_dictionary(folder / (name + ".dict"), each->words());
  }
  return 0;
}
