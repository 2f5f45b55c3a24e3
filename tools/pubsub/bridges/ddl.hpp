// `pubsub bridge ddl`: tables for what bridges write.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/App.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

void add_ddl(CLI::App& bridge, exit_code& outcome);

} // namespace pubsub::tool
