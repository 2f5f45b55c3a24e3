// The main function of fuzz targets in builds without a fuzzing engine: runs every file given, and
// every file of the folders given, through the target once.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/target.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path))
    return {path};
  std::vector<fs::path> out;
  for (const auto& each : fs::recursive_directory_iterator{path})
    if (each.is_regular_file())
      out.push_back(each.path());
  std::ranges::sort(out);
  return out;
}

bool replay(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  if (!in.is_open() || in.bad()) {
    std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
    return false;
  }
  // A block of the exact size lets the address sanitizer see a read beyond the input.
  const auto copy = std::make_unique<std::uint8_t[]>(bytes.size());
  std::ranges::copy(bytes, copy.get());
  std::fprintf(stderr, "%s\n", file.c_str()); // the last line names the input that ends the process
  LLVMFuzzerTestOneInput(copy.get(), bytes.size());
  return true;
}

} // namespace

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  for (const fs::path each : std::vector<std::string>{argv + 1, argv + argc})
    for (const auto& file : files_of(each)) {
      if (!replay(file))
        return 2;
      ++inputs;
    }
  std::printf("%zu inputs, nothing found\n", inputs);
  return inputs > 0 ? 0 : 2;
}
