// SPDX-License-Identifier: BSD-3-Clause
#include "compare/compare_run.hpp"

#include "kit/child_process.hpp"
#include "kit/report_members.hpp"
#include "kit/scratch_folder.hpp"

#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>

#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

using state = compare_sample::state;

constexpr double spare_s = 60; // for starting, and for what is on its way at the end

double mean_of(const std::vector<double>& numbers) {
  auto sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  return numbers.empty() ? 0 : sum / static_cast<double>(numbers.size());
}

std::uint64_t count_member(std::string_view json, std::string_view name) {
  return static_cast<std::uint64_t>(number_member(json, name));
}

compare_sample without_figures(state status, std::string note) {
  compare_sample result;
  result.status = status;
  result.note = std::move(note);
  return result;
}

// A number, or the median of a statistic; 0 where there is neither.
double figure_member(std::string_view json, std::string_view name) {
  const auto key = "\"" + std::string{name} + "\":";
  const auto at = json.find(key);
  if (at == json.npos)
    return 0;
  const auto rest = json.substr(at);
  return rest.substr(key.size()).starts_with('{') ? number_member(rest, "median")
                                                  : number_member(rest, name);
}

std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

deadline limit_of(double duration_s) {
  return deadline_after(duration_s + spare_s);
}

// Nothing where it ended by itself.
std::optional<compare_sample> cut_short(const program_run& run) {
  if (run.what == program_run::end::by_itself)
    return std::nullopt;
  bool stopped = run.what == program_run::end::interrupted;
  return without_figures(stopped ? state::interrupted : state::failed, run.how);
}

compare_sample run_ours(const contestant& who, double duration_s, const stop_signal& stop) {
  const scratch_folder folder;
  const auto report = folder.file("report.json");
  auto arguments = who.arguments;
  arguments.insert(arguments.end(), {"--json", report});
  auto run = run_to_end(child_process{who.name, arguments}, limit_of(duration_s), stop);
  if (auto nothing = cut_short(run))
    return *nothing;
  auto result = read_own_report(read_file(report));
  if (!result.measured())
    result.note = run.how;
  return result;
}

compare_sample run_program(const contestant& who, double duration_s, const stop_signal& stop) {
  if (::access(who.program.c_str(), X_OK) != 0)
    return without_figures(state::unavailable, "not installed");
  auto run =
      run_to_end(child_process{who.name, who.program, who.arguments}, limit_of(duration_s), stop);
  return read_peer_run(run);
}

} // namespace

compare_sample read_peer_report(std::string_view json) {
  if (auto reason = string_member(json, "unavailable"); !reason.empty())
    return without_figures(state::unavailable, reason);
  compare_sample result;
  result.version = string_member(json, "version");
  result.rate = number_member(json, "msgs_per_s");
  result.published = count_member(json, "published");
  result.delivered = count_member(json, "delivered");
  result.lost = count_member(json, "lost");
  result.disordered = count_member(json, "disordered");
  result.cpu_ns = number_member(json, "cpu_ns");
  result.status = result.rate > 0 ? state::measured : state::failed;
  return result;
}

compare_sample read_peer_run(const program_run& run) {
  if (auto nothing = cut_short(run))
    return *nothing;
  auto result = read_peer_report(run.last_line);
  if (result.status == state::failed)
    result.note = run.how;
  return result;
}

compare_sample read_own_report(std::string_view json) {
  compare_sample result;
  result.version = string_member(json, "version");
  result.rate = mean_of(number_list_member(json, "samples"));
  result.published = count_member(json, "published");
  result.delivered = count_member(json, "delivered");
  result.lost = count_member(json, "dropped");
  result.disordered = count_member(json, "duplicated") + count_member(json, "reordered");
  result.cpu_ns = figure_member(json, "cpu_ns");
  result.relay_cpu_ns = figure_member(json, "relay_cpu_ns");
  result.status = result.rate > 0 ? state::measured : state::failed;
  return result;
}

compare_sample run_contestant(const contestant& who, double duration_s, const stop_signal& stop) {
  return who.program.empty() ? run_ours(who, duration_s, stop) : run_program(who, duration_s, stop);
}

} // namespace pubsub::tool::bench
