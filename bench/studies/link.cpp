// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/progress.hpp"
#include "studies/kept_awake.hpp"
#include "studies/link_check.hpp"
#include "terminal.hpp"

#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool {

namespace bench {

namespace {

using ::emulator::link_counters;
using ::emulator::link_emulator;
using ::emulator::link_settings;

struct link_options {
  std::string listen = "127.0.0.1:0";
  std::string to;
  bool check = false;
  link_check_options checking;
};

// A number with one of these units, which may be left out.
std::optional<double> number_of(std::string text, const std::map<std::string, double>& units) {
  try {
    const CLI::AsNumberWithUnit convert{units};
    if (!convert(text).empty())
      return std::nullopt;
    const auto number = std::stod(text);
    return number >= 0 && number <= 1e15 ? std::optional{number} : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Changes what `word` names; false if the word or its value is none.
bool change(link_settings& x, const std::string& word, const std::string& value) {
  static const std::map<std::string, double> rates{{"b", 1}, {"kb", 1e3}, {"Mb", 1e6}, {"Gb", 1e9}};
  static const std::map<std::string, double> times{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  if (word == "profile") {
    const auto found = ::emulator::link_profile(value);
    x = found.value_or(x);
    return found.has_value();
  }
  const auto number = number_of(value, word == "rtt" ? times : rates);
  if (!number)
    return false;
  if (word == "rtt")
    x.round_trip = std::chrono::nanoseconds{static_cast<std::int64_t>(*number)};
  else if (word == "up")
    x.up_bits_per_s = *number;
  else if (word == "down")
    x.down_bits_per_s = *number;
  else
    return false;
  return true;
}

// What happened on a link since the last line, for people.
class traffic {
public:
  std::string line(const link_counters& x) {
    const auto text =
        fmt::format("up {}, down {}, under way {:.0f} kB and {:.0f} kB, {} connections",
                    rate(x.up_bytes - last_.up_bytes), rate(x.down_bytes - last_.down_bytes),
                    static_cast<double>(x.up_held_bytes) / 1e3,
                    static_cast<double>(x.down_held_bytes) / 1e3, x.open);
    last_ = x;
    return text;
  }

private:
  static std::string rate(std::uint64_t bytes_in_a_second) {
    return bytes_in_a_second == 0 ? "0" : rate_text(8 * static_cast<double>(bytes_in_a_second));
  }
  link_counters last_;
};

// Lines on stdin; none any more once it is closed.
class change_lines {
public:
  int fd() const noexcept { return open_ ? STDIN_FILENO : -1; }
  /// Reads what is there and applies whole lines. True if something was changed.
  bool read(link_settings& x) {
    char bytes[4096];
    const auto n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    open_ = n > 0;
    if (open_)
      pending_.append(bytes, static_cast<std::size_t>(n));
    bool changed = false;
    for (std::size_t end; (end = pending_.find('\n')) != pending_.npos; pending_.erase(0, end + 1))
      changed |= apply(x, pending_.substr(0, end));
    return changed;
  }

private:
  static bool apply(link_settings& x, const std::string& line) {
    auto fresh = x;
    std::istringstream words{line};
    for (std::string word, value; words >> word;)
      if (words >> value; !change(fresh, word, value)) {
        complain(fmt::format("\"{}\": expected \"profile wan\", or some of \"rtt 5ms up 40Mb down "
                             "7Mb\"; nothing is changed",
                             line));
        return false;
      }
    const bool changed = !(fresh == x);
    x = fresh;
    return changed;
  }

  bool open_ = true;
  std::string pending_;
};

exit_code run_link(const link_options& options, const stop_signal& stop) {
  const kept_awake awake{!options.checking.power_saving};
  auto settings = options.checking.settings;
  const auto costs = ::emulator::measure_own_costs();
  const auto link = [&]() -> std::unique_ptr<link_emulator> {
    try {
      return std::make_unique<link_emulator>(options.listen, options.to, settings, costs);
    } catch (const std::runtime_error& problem) {
      complain(fmt::format("{} to {}: {}", options.listen, options.to, problem.what()));
      return nullptr;
    }
  }();
  if (!link)
    return exit_code::connect;
  fmt::print(stderr, "listening on {}, to {}: {}\n", link->address(), options.to,
             link_text(settings));
  fmt::print(stderr, "{}\n{}\n", cost_text(settings, costs.at(settings.round_trip)), awake.text());
  progress shown;
  traffic passing;
  change_lines lines;
  for (;;) {
    const auto woken = wait_readable(lines.fd(), stop, deadline_after(1));
    if (woken == wake::stopped)
      return exit_code::ok;
    if (woken == wake::ready && lines.read(settings)) {
      link->change(settings);
      fmt::print(stderr, "now {}\n", link_text(settings));
    }
    if (shown.due(clock::now()))
      shown.show(passing.line(link->counters()));
  }
}

constexpr const char* link_examples = R"(Examples:
  pubsub bench link --to 127.0.0.1:9999 --profile wan
      programs that connect to the port it names reach 127.0.0.1:9999 as over a wide-area network
  pubsub bench link --listen 127.0.0.1:7000 --to 127.0.0.1:9999 --rtt 20ms --up 100Mb --down 20Mb
  pubsub bench link --check --profile lan
      is the link as it says? Measured beside set, each within 3 % or the status is 3
Profiles: lan is 0.1 ms and 5 Gb/s both ways, wan 40 ms, 40 Mb/s up and 7 Mb/s down. "up" is from who
connects to where --to leads. The round trip is that of two programs on bare sockets: what they and
the link need themselves is measured at the start, and taken off. Rates are those of the bytes of
streams, without headers of packets, and shared by all connections. On stdin lines like "profile
wan" or "rtt 5ms up 10Mb" change the link under what passes: what travels already arrives as it would
have, the rest is treated anew, and nothing is overtaken. Links of up to 3 ms take a whole processor
while bytes pass; where it may (as a rule, as root) a link keeps idle processors awake, since waking
one takes tens of microseconds, and another time each time.)";

void add_settings(CLI::App& command, link_options& options) {
  auto& settings = options.checking.settings;
  auto add = [&](const char* name, const char* word, const char* help, const char* type) {
    return command
        .add_option_function<std::string>(
            name,
            [&settings, name, word](const std::string& value) {
              if (!change(settings, word, value))
                throw CLI::ValidationError{name, "no such value: " + value};
            },
            help)
        ->type_name(type);
  };
  // In this order: what is said beside a profile changes that.
  add("--profile", "profile", "lan or wan", "NAME");
  add("--rtt", "rtt", "Round-trip time in us, ms or s", "TIME");
  add("--up", "up", "Bits a second to where the link leads, in kb, Mb or Gb; 0: no limit", "RATE");
  add("--down", "down", "Bits a second on the way back", "RATE");
  command.add_flag("--power-saving", options.checking.power_saving,
                   "Let idle processors fall asleep: round trips get longer, and differ");
}

void add_checks(CLI::App& command, link_options& options) {
  auto& checking = options.checking;
  auto* const check =
      command.add_flag("--check", options.check,
                       "Measure a link with a ping-pong and transfers of its own, and end");
  command.add_option("--rounds", checking.rounds, "Measurements, each of a new link")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str()
      ->needs(check);
  command.add_option("--duration", checking.duration_s, "Seconds of a transfer")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str()
      ->needs(check);
  command.add_option("--limit", checking.limit_percent, "Percent that a median may be off [3]")
      ->check(CLI::Range(0.01, 1e6))
      ->needs(check);
  command
      .add_option("--json", checking.json_file,
                  "Write all figures to FILE, or with - to stdout instead of the table")
      ->type_name("FILE|-")
      ->needs(check);
  command.add_flag("--progress", checking.progress,
                   "Show every measurement even if stderr is no terminal");
}

} // namespace

} // namespace bench

void add_bench_link(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::link_options>();
  auto* const command =
      app.add_subcommand("link", "A link of given round-trip time and rates between two programs");
  command->add_option("--listen", options->listen, "HOST:PORT where programs connect; port 0: any")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command->add_option("--to", options->to, "HOST:PORT where the link leads")->type_name("ADDRESS");
  bench::add_settings(*command, *options);
  bench::add_checks(*command, *options);
  command->footer(bench::link_examples);
  command->callback([options, &outcome] {
    options->checking.progress |= stderr_is_terminal();
    if (!options->check && options->to.empty())
      throw CLI::RequiredError{"--to, or --check,"};
    stop_signal stop;
    outcome = options->check ? bench::check_link(options->checking, stop)
                             : bench::run_link(*options, stop);
  });
}

} // namespace pubsub::tool
