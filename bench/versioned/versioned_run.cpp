// SPDX-License-Identifier: BSD-3-Clause
#include "versioned/versioned_run.hpp"

#include "kit/child_process.hpp"
#include "kit/child_report.hpp"
#include "kit/scratch_folder.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#ifdef PUBSUB_STUDIES
#include "studies/call_counter.hpp"
#endif

namespace pubsub::tool::bench {

namespace {

using state = versioned_sample::state;
using values = std::map<std::string, double>;

constexpr double slowest_rate = 20; // messages per second; what is slower is given up

struct run_failure : std::runtime_error {
  run_failure(state what, const std::string& why) : std::runtime_error(why), status(what) {}
  state status;
};

// Servers first, then clients; later ones dial earlier ones.
class fleet {
public:
  fleet(const versioned_setting& setting, const stop_signal& stop)
      : setting_(setting), stop_(stop) {
    if (setting.check)
      folder_.emplace();
  }

  versioned_sample run() {
    start_all();
    versioned_sample result;
    const auto before = usage_of_all();
    measure(result);
    const auto after = usage_of_all();
    const auto n = static_cast<double>(result.messages);
    result.costs.bytes = (after.bytes - before.bytes) / n;
    result.costs.switches = (after.switches - before.switches) / n;
    result.costs.cpu_us = (after.cpu_us - before.cpu_us) / n;
#ifdef PUBSUB_STUDIES
    result.costs.calls = calls_per_message();
#endif
    end_all(result);
    result.status = state::measured;
    return result;
  }

private:
  struct usage {
    double bytes = 0;
    double switches = 0;
    double cpu_us = 0;
  };

  child_process& start(const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "versioned-part");
    for (const auto& port : ports_)
      arguments.insert(arguments.end(), {"--peer", "127.0.0.1:" + port});
    if (folder_)
      arguments.insert(arguments.end(), {"--history", folder_->file(name)});
    return processes_.emplace_back(name, arguments);
  }

  void start_all() {
    const auto replicas = std::to_string(setting_.replicas);
    for (unsigned i = 0; i < setting_.replicas; ++i) {
      std::vector<std::string> arguments{"--part",     "replica", "--listen", "127.0.0.1:0",
                                         "--replicas", replicas,  "--id",     std::to_string(i)};
      if (setting_.spoil && i + 1 == setting_.replicas)
        arguments.emplace_back("--spoil");
      auto& server = start(fmt::format("replica-{}", i), arguments);
      ports_.push_back(wait_for(server, "port").rest);
    }
    for (auto& server : processes_)
      wait_for(server, "ready");
    for (unsigned i = 0; i < setting_.clients; ++i)
      start(fmt::format("client-{}", i), client_arguments());
    for (auto* client : clients())
      wait_for(*client, "ready");
  }

  std::vector<std::string> client_arguments() const {
    std::vector<std::string> result{"--part",     "client",
                                    "--scheme",   std::string{to_string(setting_.scheme)},
                                    "--payload",  std::to_string(setting_.payload_bytes),
                                    "--replicas", std::to_string(setting_.replicas),
                                    "--window",   std::to_string(setting_.window),
                                    "--duration", fmt::format("{}", setting_.duration_s),
                                    "--messages", std::to_string(setting_.messages)};
    if (setting_.how == sending::pipelined)
      result.emplace_back("--pipelined");
    return result;
  }

  std::vector<child_process*> clients() {
    std::vector<child_process*> result;
    for (std::size_t i = setting_.replicas; i < processes_.size(); ++i)
      result.push_back(&processes_[i]);
    return result;
  }

  child_report wait_for(child_process& child, std::string_view word,
                        double seconds = start_limit_s) {
    auto report = wait_for_report(child, word, stop_, deadline_after(seconds));
    if (report.what == child_report::kind::line)
      return report;
    throw run_failure{stop_.requested() ? state::interrupted : state::failed,
                      explain(child, report)};
  }

  usage usage_of_all() {
    usage sum;
    for (auto& each : processes_)
      each.tell("usage");
    for (auto& each : processes_) {
      auto now = values_of(wait_for(each, "usage").rest);
      sum.bytes += now["bytes"];
      sum.switches += now["switches"];
      sum.cpu_us += now["cpu_us"];
    }
    return sum;
  }

  double limit_s() const {
    const auto messages = static_cast<double>(std::max(setting_.messages, setting_.window));
    return 2 * start_limit_s + setting_.duration_s + messages / slowest_rate;
  }

  void measure(versioned_sample& to) {
    for (auto* client : clients())
      client->tell("go");
    for (auto* client : clients()) {
      auto done = values_of(wait_for(*client, "done", limit_s()).rest);
      to.messages += static_cast<std::uint64_t>(done["messages"]);
      to.seconds = std::max(to.seconds, done["seconds"]);
      to.p50_us = std::max(to.p50_us, done["p50_us"]);
      to.p99_us = std::max(to.p99_us, done["p99_us"]);
    }
    if (to.messages == 0)
      throw run_failure{state::failed, "no message was acknowledged"};
  }

#ifdef PUBSUB_STUDIES
  // In a short run of its own.
  std::optional<double> calls_per_message() {
    std::vector<pid_t> all;
    for (auto& each : processes_)
      all.push_back(each.pid());
    auto& client = *clients().front();
    std::optional<child_report> counted;
    auto done = [&] {
      if (auto line = client.read_line(); line && line->starts_with("counted "))
        counted = child_report{child_report::kind::line, "counted", line->substr(8)};
      return counted || client.finished() || stop_.requested();
    };
    const auto calls = count_system_calls(
        all, [&] { client.tell("count"); }, done);
    if (!calls || !counted)
      return {};
    const auto messages = values_of(counted->rest)["messages"];
    return messages > 0 ? std::optional{static_cast<double>(*calls) / messages} : std::nullopt;
  }
#endif

  // Replicas go on until each has handed out all that clients have had acknowledged.
  void end_all(versioned_sample& result) {
    double acknowledged = 0;
    for (auto* client : clients()) {
      client->ask_to_end();
      acknowledged += values_of(wait_for(*client, "ended").rest)["acknowledged"];
    }
    for (unsigned i = 0; i < setting_.replicas; ++i)
      processes_[i].tell(fmt::format("until {:.0f}", acknowledged));
    for (unsigned i = 0; i < setting_.replicas; ++i)
      wait_for(processes_[i], "complete");
    for (unsigned i = 0; i < setting_.replicas; ++i)
      processes_[i].ask_to_end();
    for (unsigned i = 0; i < setting_.replicas; ++i)
      wait_for(processes_[i], "ended");
    if (folder_)
      result.verdict = judge();
  }

  history_verdict judge() {
    std::vector<history> handed_out;
    history acknowledged;
    for (auto& each : processes_) {
      const auto what = read_history(folder_->file(each.name()));
      if (!what)
        throw run_failure{state::failed, what.error().message()};
      if (handed_out.size() < setting_.replicas)
        handed_out.push_back(*what);
      else
        acknowledged.insert(acknowledged.end(), what->begin(), what->end());
    }
    return check_histories(handed_out, acknowledged,
                           setting_.scheme == versioning::none ? versions::none
                                                               : versions::promised);
  }

  const versioned_setting& setting_;
  const stop_signal& stop_;
  std::optional<scratch_folder> folder_;
  std::vector<std::string> ports_;
  std::deque<child_process> processes_;
};

} // namespace

unsigned hops_of(versioning scheme) noexcept {
  switch (scheme) {
  case versioning::none:
    return 2; // to a server and back
  case versioning::version_request:
  case versioning::message_returns_version:
    return 4; // there and back, twice
  case versioning::one_hop:
    return 4; // to the first, to another, and the same way back
  case versioning::one_hop_ack_client:
  case versioning::tagged:
    return 3; // to the first, message or version to another, and straight back
  }
  return 0;
}

versioned_sample run_versioned(const versioned_setting& setting, const stop_signal& stop) {
  versioned_sample result;
  try {
    result = fleet{setting, stop}.run();
  } catch (const run_failure& failure) {
    result.status = failure.status;
    result.note = failure.what();
  } catch (const std::runtime_error& failure) { // no folder for histories
    result.note = failure.what();
  }
  return result;
}

} // namespace pubsub::tool::bench
