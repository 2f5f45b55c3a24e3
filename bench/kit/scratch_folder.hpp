// A folder for files that processes of a benchmark share, gone at the end.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>

namespace pubsub::tool::bench {

class scratch_folder {
public:
  /// Throws std::runtime_error if there can be none.
  scratch_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "pubsub-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error{"no folder for files in " + pattern};
    path_ = pattern;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_; }
  std::string file(const std::string& name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

} // namespace pubsub::tool::bench
