// The whole command line.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pubsub::tool {

/// Parses the arguments, runs the subcommand they name and returns the exit status.
int run(int argc, char** argv);

} // namespace pubsub::tool
