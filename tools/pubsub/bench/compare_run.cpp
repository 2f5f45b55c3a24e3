#include "bench/compare_run.hpp"

#include "bench/child_process.hpp"

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

using state = compare_sample::state;

constexpr double spare_s = 60; // for starting, and for what is on its way at the end

// The reports are our own, written by programs of this project: members are found by name.
std::string_view text_after(std::string_view json, std::string_view name) {
  auto key = fmt::format("\"{}\":", name);
  auto at = json.find(key);
  return at == json.npos ? std::string_view{} : json.substr(at + key.size());
}

template <class Number>
Number number_of(std::string_view json, std::string_view name) {
  auto text = text_after(json, name);
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string string_of(std::string_view json, std::string_view name) {
  auto text = text_after(json, name);
  if (!text.starts_with('"'))
    return {};
  text.remove_prefix(1);
  return std::string{text.substr(0, text.find('"'))};
}

double mean_of_samples(std::string_view json) {
  auto text = text_after(json, "samples");
  double sum = 0;
  double count = 0;
  while (text.starts_with('[') || text.starts_with(',')) {
    text.remove_prefix(1);
    double value = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{})
      break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

compare_sample without_figures(state status, std::string note) {
  compare_sample result;
  result.status = status;
  result.note = std::move(note);
  return result;
}

// A file for the report of one child, gone at the end.
class temporary_file {
public:
  temporary_file() : path_((std::filesystem::temp_directory_path() / "pubsub.XXXXXX").string()) {
    auto fd = ::mkstemp(path_.data());
    if (fd < 0)
      throw std::system_error(errno, std::generic_category(), path_);
    ::close(fd);
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { ::unlink(path_.c_str()); }

  const std::string& path() const noexcept { return path_; }
  std::string read() const {
    std::ifstream in{path_, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

private:
  std::string path_;
};

struct ended_child {
  std::optional<state> cut_short;
  std::string how;
  std::string last_line;
};

ended_child run_to_end(child_process child, double duration_s, const stop_signal& stop) {
  auto limit = deadline_after(duration_s + spare_s);
  ended_child result;
  while (!child.finished()) {
    while (auto line = child.read_line())
      result.last_line = std::move(*line);
    if (child.finished())
      break;
    auto woken = wait_readable(child.fd(), stop, limit);
    if (woken == wake::ready)
      continue;
    result.cut_short = woken == wake::stopped ? state::interrupted : state::failed;
    result.how = woken == wake::stopped ? "interrupted" : "did not end in time";
    return result; // the child is killed
  }
  result.how = child.wait(deadline_after(10));
  return result;
}

compare_sample run_ours(const contestant& who, double duration_s, const stop_signal& stop) {
  temporary_file report;
  auto arguments = who.arguments;
  arguments.insert(arguments.end(), {"--json", report.path()});
  auto ended = run_to_end(child_process{who.name, arguments}, duration_s, stop);
  if (ended.cut_short)
    return without_figures(*ended.cut_short, ended.how);
  auto result = read_own_report(report.read());
  if (!result.measured())
    result.note = ended.how;
  return result;
}

compare_sample run_program(const contestant& who, double duration_s, const stop_signal& stop) {
  if (::access(who.program.c_str(), X_OK) != 0)
    return without_figures(state::unavailable, "not installed");
  auto ended = run_to_end(child_process{who.name, who.program, who.arguments}, duration_s, stop);
  if (ended.cut_short)
    return without_figures(*ended.cut_short, ended.how);
  auto result = read_peer_report(ended.last_line);
  if (result.status == state::failed)
    result.note = ended.how;
  return result;
}

} // namespace

compare_sample read_peer_report(std::string_view json) {
  if (auto reason = string_of(json, "unavailable"); !reason.empty())
    return without_figures(state::unavailable, reason);
  compare_sample result;
  result.version = string_of(json, "version");
  result.rate = number_of<double>(json, "msgs_per_s");
  result.published = number_of<std::uint64_t>(json, "published");
  result.delivered = number_of<std::uint64_t>(json, "delivered");
  result.lost = number_of<std::uint64_t>(json, "lost");
  result.disordered = number_of<std::uint64_t>(json, "disordered");
  result.status = result.rate > 0 ? state::measured : state::failed;
  return result;
}

compare_sample read_own_report(std::string_view json) {
  compare_sample result;
  result.version = string_of(json, "version");
  result.rate = mean_of_samples(json);
  result.published = number_of<std::uint64_t>(json, "published");
  result.delivered = number_of<std::uint64_t>(json, "delivered");
  result.lost = number_of<std::uint64_t>(json, "dropped");
  result.disordered =
      number_of<std::uint64_t>(json, "duplicated") + number_of<std::uint64_t>(json, "reordered");
  result.status = result.rate > 0 ? state::measured : state::failed;
  return result;
}

compare_sample run_contestant(const contestant& who, double duration_s, const stop_signal& stop) {
  const bool own = who.role == part::ours || who.role == part::variant;
  return own ? run_ours(who, duration_s, stop) : run_program(who, duration_s, stop);
}

} // namespace pubsub::tool::bench
