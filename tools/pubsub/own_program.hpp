// Where this program is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace pubsub::tool {

/// This program's own file, by its real path, so that process lists show the name; the link of the
/// system serves where that cannot be read.
inline std::string own_program() {
  std::error_code failure;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failure);
  return !failure && std::filesystem::exists(path, failure) ? path.string() : "/proc/self/exe";
}

} // namespace pubsub::tool
