// SPDX-License-Identifier: BSD-3-Clause
#include "stream/chain_run.hpp"

#include "kit/child_process.hpp"
#include "kit/child_report.hpp"
#include "kit/link_address.hpp"
#include "kit/process_usage.hpp"
#include "kit/scratch_folder.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>

namespace pubsub::tool::bench {

namespace {

constexpr double setup_limit_s = 20;
constexpr double drain_limit_s = 30;

struct chain_failure : std::runtime_error {
  chain_failure(exit_code status, const std::string& problem)
      : std::runtime_error(problem), code(status) {}
  exit_code code;
};

// The processes of a chain in the order they are started: subscriber first.
class chain {
public:
  chain(const chain_settings& settings, const stop_signal& stop, const chain_progress& progress)
      : settings_(settings), stop_(stop), progress_(progress) {}

  chain_outcome run() {
    auto limit = deadline_after(setup_limit_s);
    std::vector<std::string> subscriber_arguments{"--part", "sub", "--listen", place(0)};
    add_form(subscriber_arguments);
    auto address = start("subscriber", std::move(subscriber_arguments), limit);
    for (auto i = settings_.relays; i > 0; --i)
      address =
          start(relay_name(i), {"--part", "relay", "--listen", place(i), "--peer", address}, limit);
    std::vector<std::string> arguments{"--part",     "pub",
                                       "--peer",     address,
                                       "--duration", fmt::format("{}", settings_.duration_s),
                                       "--payload",  std::to_string(settings_.payload_bytes)};
    add_form(arguments);
    if (!settings_.input.empty())
      arguments.insert(arguments.end(), {"--input", settings_.input});
    auto& publisher = start_child("publisher", std::move(arguments));
    limit = deadline_after(settings_.duration_s + setup_limit_s + drain_limit_s);
    take(publisher, wait_for(publisher, "done", limit));
    // What the publisher has sent is in sockets and queues by now: the rest takes moments.
    auto& subscriber = children_.front();
    if (!done_.contains(subscriber.name()))
      take(subscriber, wait_for(subscriber, "done", deadline_after(drain_limit_s)));
    end_relays();
    reckon_costs();
    return std::move(outcome_);
  }

private:
  static std::string relay_name(unsigned i) { return "relay " + std::to_string(i); }

  std::string place(unsigned stage) const {
    return listening_address(settings_.transport, folder_.file(std::to_string(stage)));
  }

  void add_form(std::vector<std::string>& arguments) const {
    if (settings_.form == message_form::tree)
      arguments.emplace_back("--trees");
  }

  child_process& start_child(const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"chain-part", "--wire-version", std::to_string(settings_.wire_version)});
    children_.emplace_back(name, arguments);
    if (settings_.name_processes)
      progress_(fmt::format("{}: pid {}", name, children_.back().pid()));
    return children_.back();
  }

  // Returns the address the child listens at.
  std::string start(const std::string& name, std::vector<std::string> arguments,
                    const deadline& limit) {
    return wait_for(start_child(name, std::move(arguments)), "at", limit);
  }

  // Reads reports of all children until `wanted` says `key`; returns what follows the key.
  std::string wait_for(child_process& wanted, std::string_view key, const deadline& limit) {
    for (;;) {
      for (auto& child : children_) {
        while (auto line = child.read_line()) {
          auto word = line->substr(0, line->find(' '));
          auto rest = line->substr(std::min(line->size(), word.size() + 1));
          if (&child == &wanted && word == key)
            return rest;
          handle(child, word, rest);
        }
        if (child.finished() && !done_.contains(child.name()))
          throw ended_early(child);
      }
      wait_for_output(wanted, limit);
    }
  }

  void handle(child_process& child, const std::string& word, const std::string& rest) {
    if (word == "rate")
      progress_(fmt::format("{} relays: {} msgs/s", settings_.relays, rest));
    else if (word == "done")
      take(child, rest);
  }

  chain_failure ended_early(child_process& child) {
    auto pid = child.pid();
    auto how = child.wait(deadline_after(1));
    auto code = how == "exit status 4"   ? exit_code::timeout
                : how == "exit status 1" ? exit_code::usage
                                         : exit_code::connect;
    return {code,
            fmt::format("{} (pid {}) ended before its work was done: {}", child.name(), pid, how)};
  }

  void wait_for_output(const child_process& wanted, const deadline& limit) {
    std::vector<pollfd> entries{{stop_.fd(), POLLIN, 0}};
    for (auto& child : children_)
      if (!child.finished())
        entries.push_back({child.fd(), POLLIN, 0});
    auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left_until(limit)).count();
    auto ready = ::poll(entries.data(), entries.size(), static_cast<int>(ms + 1));
    if (ready > 0 && entries[0].revents != 0)
      throw chain_failure{exit_code::usage, "interrupted"};
    if (ready == 0)
      throw chain_failure{exit_code::timeout,
                          fmt::format("the {} of a chain of {} relays did not report in time",
                                      wanted.name(), settings_.relays)};
  }

  // Keeps what a child reported at its end.
  void take(const child_process& child, const std::string& report) {
    if (!done_.insert(child.name()).second)
      return;
    auto values = values_of(report);
    auto number = [&](const char* key) { return static_cast<std::uint64_t>(values[key]); };
    auto time = [&](const char* key) { return std::chrono::nanoseconds{number(key)}; };
    used_[child.name()] = {time("user_ns"), time("system_ns")};
    if (child.name() == "publisher") {
      outcome_.sequence.published = number("published");
      outcome_.payload_bytes = number("payload");
    } else if (child.name() == "subscriber") {
      outcome_.sequence.delivered = number("delivered");
      outcome_.sequence.duplicated = number("duplicated");
      outcome_.sequence.reordered = number("reordered");
      outcome_.sequence.missing = number("missing");
      outcome_.sequence.unexpected = number("unexpected");
      outcome_.mean_rate = values["mean"];
      for (std::size_t i = 0; values.contains("rate" + std::to_string(i)); ++i)
        outcome_.rates.push_back(values["rate" + std::to_string(i)]);
    }
  }

  // What relays report at their end is what they have used.
  void end_relays() {
    auto limit = deadline_after(drain_limit_s);
    for (auto& child : children_)
      child.ask_to_end();
    for (auto& child : children_)
      if (!done_.contains(child.name()))
        take(child, wait_for(child, "done", limit));
    limit = deadline_after(5);
    for (auto& child : children_)
      child.wait(limit);
  }

  void reckon_costs() {
    const auto messages = std::max<std::uint64_t>(outcome_.sequence.published, 1);
    auto per_message = [&](std::chrono::nanoseconds time) {
      return static_cast<double>(time.count()) / static_cast<double>(messages);
    };
    for (unsigned i = 1; i <= settings_.relays; ++i) // each has passed on all messages
      outcome_.relays.push_back(
          {per_message(used_[relay_name(i)].user), per_message(used_[relay_name(i)].system)});
    for (const auto& [name, used] : used_)
      outcome_.cpu_ns += per_message(used.user + used.system);
  }

  const chain_settings& settings_;
  const stop_signal& stop_;
  const chain_progress& progress_;
  const scratch_folder folder_; // of sockets
  std::deque<child_process> children_;
  std::set<std::string> done_;                 // children that have reported their end
  std::map<std::string, processor_time> used_; // by child
  chain_outcome outcome_;
};

} // namespace

chain_outcome run_chain(const chain_settings& settings, const stop_signal& stop,
                        const chain_progress& progress) {
  try {
    auto outcome = chain{settings, stop, progress}.run();
    auto& sequence = outcome.sequence;
    bool adds_up = sequence.published == sequence.delivered + sequence.missing;
    if (!adds_up || !sequence.perfect()) {
      outcome.status = exit_code::loss;
      outcome.problem =
          fmt::format("{} relays: of {} messages {} arrived, {} are missing, {} came twice, {} out "
                      "of order, {} unexpected",
                      settings.relays, sequence.published, sequence.delivered, sequence.missing,
                      sequence.duplicated, sequence.reordered, sequence.unexpected);
    }
    return outcome;
  } catch (const chain_failure& failure) {
    chain_outcome outcome;
    outcome.status = failure.code;
    outcome.problem = failure.what();
    return outcome;
  }
}

} // namespace pubsub::tool::bench
