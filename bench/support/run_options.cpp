// SPDX-License-Identifier: BSD-3-Clause
#include "support/run_options.hpp"

#include <cstdlib>

#include <CLI/CLI.hpp>

namespace bench {

run_options parse_options(int argc, char** argv, const char* description,
                          const std::vector<std::string>& patterns) {
  run_options options;
  CLI::App app{description};
  app.add_option("--setup", options.setup, "local or chain")
      ->check(CLI::IsMember({"local", "chain"}))
      ->capture_default_str();
  app.add_option("--messages", options.messages,
                 "fresh, repeated, or tree: each a new value, read as one")
      ->check(CLI::IsMember({"fresh", "repeated", "tree"}))
      ->capture_default_str();
  if (!patterns.empty()) {
    options.pattern = patterns.front();
    app.add_option("--pattern", options.pattern, "Sockets to use")
        ->check(CLI::IsMember(patterns))
        ->capture_default_str();
  }
  app.add_option("--relays", options.relays, "Relays between publisher and subscriber")
      ->check(CLI::Range(0U, 64U))
      ->capture_default_str();
  app.add_option("--payload", options.payload_bytes, "Bytes of a message, its number included")
      ->check(CLI::Range(8U, 1U << 24))
      ->capture_default_str();
  app.add_option("--duration", options.duration_s, "Seconds to publish")
      ->check(CLI::Range(0.1, 1e5))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    std::exit(app.exit(problem) == 0 ? 0 : 1);
  }
  return options;
}

} // namespace bench
