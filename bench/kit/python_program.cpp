// SPDX-License-Identifier: BSD-3-Clause
#include "kit/python_program.hpp"

#include "kit/child_process.hpp"

#include <filesystem>

namespace pubsub::tool::bench {

std::vector<std::string> find_python() {
  auto folder = std::filesystem::path{own_program()}.parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path())
    for (const auto* own : {"bin/python3", ".venv/bin/python3"})
      if (auto found = folder / own; std::filesystem::exists(found))
        return {found.string()};
  return {"/usr/bin/env", "python3"};
}

std::vector<std::string> find_python(const std::string& name) {
  if (name.empty())
    return find_python();
  if (name.find('/') != name.npos)
    return {name};
  return {"/usr/bin/env", name};
}

} // namespace pubsub::tool::bench
