// The Python that runs parts of this project.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace pubsub::tool::bench {

/// Program and first arguments of a Python: the one of the environment this program is installed
/// in, or that of the `.venv` of a folder above it, or the system's.
std::vector<std::string> find_python();
/// The Python of that name or path; as above where it is empty.
std::vector<std::string> find_python(const std::string& name);

} // namespace pubsub::tool::bench
