// Where an installed program is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>

#include <unistd.h>

namespace bench {

/// Looks as a shell would, and where Debian puts servers; empty if it is not installed.
inline std::string find_program(const std::string& name) {
  const auto* const path = std::getenv("PATH");
  std::istringstream folders{std::string{path != nullptr ? path : ""} +
                             ":/usr/sbin:/usr/local/sbin"};
  for (std::string folder; std::getline(folders, folder, ':');)
    if (auto file = folder + "/" + name; ::access(file.c_str(), X_OK) == 0)
      return file;
  return {};
}

} // namespace bench
