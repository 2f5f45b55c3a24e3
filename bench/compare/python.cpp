// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_process.hpp"
#include "kit/python_program.hpp"
#include "terminal.hpp"

#include <memory>

#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool {

namespace bench {

namespace {

struct python_options {
  std::string python;
  unsigned rounds = 5;
  double duration_s = 1;
  unsigned payload_bytes = 100;
  std::string figures;
  std::string only;
  bool quick = false;
  std::string json_file;
};

using command_line = std::vector<std::string>;

// False, after saying what is wrong, if the benchmark cannot be run.
bool can_run(const command_line& python) {
  command_line arguments{python.begin() + 1, python.end()};
  arguments.insert(arguments.end(), {"-c", "try:\n import libpubsub.bench\n"
                                           "except ImportError as reason:\n raise SystemExit(9)"});
  child_process probe{"python", python.front(), arguments};
  auto how = probe.wait(deadline_after(60));
  if (how == "exit status 0")
    return true;
  const auto& name = python.back(); // without env, which looks it up
  if (how == "exit status 9")
    complain(fmt::format("{} cannot import libpubsub: {} -m pip install libpubsub (in a clone of "
                         "the project: install .), or name another Python with --python",
                         name, name));
  else
    complain(fmt::format("{} does not run ({}): name a Python with --python", name, how));
  return false;
}

command_line make_command(const python_options& options, command_line python) {
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty())
      python.insert(python.end(), {name, value});
  };
  python.insert(python.end(), {"-m", "libpubsub.bench"});
  add("--rounds", std::to_string(options.rounds));
  add("--duration", fmt::format("{}", options.duration_s));
  add("--payload", std::to_string(options.payload_bytes));
  add("--figures", options.figures);
  add("--only", options.only);
  add("--json", options.json_file);
  if (options.quick)
    python.push_back("--short");
  return python;
}

// Becomes the benchmark, so that its status and its answer to Ctrl-C are ours.
exit_code run_python(const python_options& options) {
  auto python = find_python(options.python);
  if (!can_run(python))
    return exit_code::connect;
  auto command = make_command(options, std::move(python));
  std::vector<char*> arguments;
  for (auto& argument : command)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  ::execv(arguments.front(), arguments.data());
  complain(fmt::format("{} cannot be run", command.front()));
  return exit_code::connect;
}

constexpr const char* python_examples = R"(Examples:
  pubsub bench python --rounds 5 --duration 1 --json python.json
  pubsub bench python --figures iterate,records --only pyzmq,'pyzmq + msgspec'
Runs `python -m libpubsub.bench`, which measures the Python package and whatever is installed of
pyzmq, msgspec, msgpack, pynng, nats-py (with nats-server) and eclipse-zenoh: publish (batches of
bytes), iterate (small messages), records (20 fields, decoded to native objects) and stream (all
together, every message checked). "ours / it" is our rate divided by that row's, as the median of
the rounds' ratios. Status 2 if the package cannot be imported, 3 if we lost a message.)";

void add_options(CLI::App& command, python_options& options) {
  command
      .add_option("--python", options.python,
                  "Python to run (default: the one beside this command or in .venv, else python3)")
      ->type_name("PROGRAM");
  command.add_option("--rounds", options.rounds, "Measurements of each library")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command
      .add_option("--duration", options.duration_s,
                  "Seconds to publish in each measurement, at most")
      ->check(CLI::Range(0.01, 1e5))
      ->capture_default_str();
  command.add_option("--payload", options.payload_bytes, "Bytes of a small message")
      ->check(CLI::Range(8U, 1U << 20))
      ->capture_default_str();
  command.add_option("--figures", options.figures, "Figures to measure (default: all)")
      ->type_name("LIST");
  command.add_option("--only", options.only, "Other libraries to measure (default: all)")
      ->type_name("LIST");
  command.add_flag("--short", options.quick, "One short round: does it work?");
  command.add_option("--json", options.json_file, "Write all figures to FILE")->type_name("FILE");
  command.footer(python_examples);
}

} // namespace

} // namespace bench

void add_bench_python(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::python_options>();
  auto command = app.add_subcommand("python", "The Python package beside other libraries");
  bench::add_options(*command, *options);
  command->callback([options, &outcome] { outcome = bench::run_python(*options); });
}

} // namespace pubsub::tool
