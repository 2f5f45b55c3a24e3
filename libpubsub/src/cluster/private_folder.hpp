// A folder for sockets that only this user can enter.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <pubsub/error.hpp>

namespace pubsub::cluster {

/// Made in the folder for temporary files; goes with the object, and all that is in it.
class private_folder {
public:
  static expected<private_folder> make() {
    std::error_code problem;
    const auto parent = std::filesystem::temp_directory_path(problem);
    auto path = (parent / "pubsub-XXXXXX").string();
    if (problem || ::mkdtemp(path.data()) == nullptr)
      return error{errc::cannot_listen, "no folder for a socket can be made at " + path};
    return private_folder{std::move(path)};
  }
  private_folder(private_folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  private_folder& operator=(private_folder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~private_folder() {
    std::error_code ignored;
    if (!path_.empty())
      std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const noexcept { return path_; }

private:
  explicit private_folder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

} // namespace pubsub::cluster
