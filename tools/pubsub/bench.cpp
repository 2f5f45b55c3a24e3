// `pubsub bench`: the benchmarks are a program of their own, pubsub-bench.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "own_program.hpp"
#include "terminal.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool {

namespace {

constexpr const char* program = "pubsub-bench";

/// Beside this program where both are installed, or in bench/ of the build this one is in.
std::filesystem::path find_bench() {
  const auto own = std::filesystem::path{own_program()}.parent_path();
  const auto built = own.parent_path().parent_path() / "bench" / program;
  return ::access((own / program).c_str(), X_OK) != 0 && ::access(built.c_str(), X_OK) == 0
             ? built
             : own / program;
}

} // namespace

void add_bench(CLI::App& app) {
  app.add_subcommand("bench", "Measure speed and cost, and check for loss (starts pubsub-bench)")
      ->prefix_command(); // what follows is another program's
}

exit_code start_bench(char** arguments) {
  auto file = find_bench().string();
  std::vector<char*> all{file.data()};
  while (*arguments != nullptr)
    all.push_back(*arguments++);
  all.push_back(nullptr);
  ::execv(file.c_str(), all.data());
  complain(
      fmt::format("the benchmarks are a program of their own, and {} cannot be run; in a clone "
                  "of the project build it: cmake --build --preset release --target pubsub_bench",
                  file));
  return exit_code::usage;
}

} // namespace pubsub::tool
