#include "terminal.hpp"

#include <chrono>
#include <cstdio>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool {

void complain(std::string_view sentence) {
  fmt::print(stderr, "pubsub: {}\n", sentence);
}

exit_code exit_code_of(const error& problem) {
  switch (problem.code()) {
  case errc::address_in_use:
  case errc::cannot_listen:
  case errc::peer_unavailable:
  case errc::peer_incompatible:
  case errc::peer_timeout:
  case errc::peer_disconnect_during_handshake:
  case errc::tls_failed:
  case errc::denied:
  case errc::unspecified: // a peer has refused it, with a code that version 1 does not know
    return exit_code::connect;
  case errc::request_timeout:
    return exit_code::timeout;
  default:
    return exit_code::usage;
  }
}

std::string explain(const error& problem) {
  if (problem.context().empty())
    return std::string{describe(problem.code())};
  return problem.context();
}

exit_code fail(const error& problem) {
  complain(explain(problem));
  return exit_code_of(problem);
}

bool stderr_is_terminal() {
  static const bool answer = ::isatty(STDERR_FILENO) == 1;
  return answer;
}

void skip_log::add(const error& problem) {
  constexpr std::uint64_t shown = 20;
  ++by_reason_[std::string{to_string(problem.code())}];
  if (++total_ <= shown)
    complain(explain(problem));
  else if (total_ == shown + 1)
    complain("further problems are only counted");
}

std::string skip_log::summary() const {
  auto text = std::to_string(total_);
  auto separator = " (";
  for (const auto& [reason, n] : by_reason_) {
    text += separator + reason + " " + std::to_string(n);
    separator = ", ";
  }
  return by_reason_.empty() ? text : text + ")";
}

void line_output::add(std::string_view line) {
  pending_ += line;
  pending_ += '\n';
}

bool line_output::flush() {
  auto written = std::fwrite(pending_.data(), 1, pending_.size(), stdout);
  bool ok = written == pending_.size() && std::fflush(stdout) == 0;
  pending_.clear();
  return ok;
}

void report_line(std::string_view word, std::string_view rest) {
  line_output out;
  out.add(rest.empty() ? std::string{word} : fmt::format("{} {}", word, rest));
  out.flush();
}

std::string time_of_day() {
  auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  auto ms = now.time_since_epoch().count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms);
}

} // namespace pubsub::tool
