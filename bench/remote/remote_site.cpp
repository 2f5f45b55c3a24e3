// SPDX-License-Identifier: BSD-3-Clause
#include "remote/remote_site.hpp"

#include <utility>

namespace pubsub::tool::bench {

namespace {

constexpr const char* host = "127.0.0.1:";

remote_sample sample_of(const std::string& report) {
  auto values = values_of(report);
  remote_sample result{values["seconds"], values["sent"], values["received"], {}};
  result.plan.mode = static_cast<remote_mode>(static_cast<int>(values["mode"]));
  result.plan.bulk_operations = static_cast<std::size_t>(values["bulk"]);
  result.plan.window_operations = static_cast<std::size_t>(values["window"]);
  return result;
}

} // namespace

remote_site::remote_site(const std::string& network, std::size_t workers, const stop_signal& stop)
    : stop_(stop) {
  auto& server =
      start("server", {"remote-part", "--part", "server", "--listen", "127.0.0.1:0", "--folder",
                       folder_.path(), "--workers", std::to_string(workers)});
  auto port = wait_for(server, "port", start_limit_s).rest;
  wait_for(server, "ready", start_limit_s);
  if (network != "loopback") {
    link_ = &start("link", {"link-part", "--to", host + port, "--network", network});
    port = wait_for(*link_, "port", start_limit_s).rest;
  }
  client_ = &start("client", {"remote-part", "--part", "client", "--peer", host + port});
  wait_for(*client_, "ready", start_limit_s);
}

remote_sample remote_site::run(const remote_order& order, double limit_s) {
  begin(order);
  return finish(limit_s);
}

void remote_site::begin(const remote_order& order) {
  client_->tell(order.text());
}

remote_sample remote_site::finish(double limit_s) {
  const auto report = wait_for(*client_, {}, limit_s);
  if (report.word != "done")
    throw remote_failure{remote_failure::kind::refused, report.rest};
  return sample_of(report.rest);
}

void remote_site::change_network(const std::string& network) {
  if (link_ != nullptr)
    link_->tell(network);
}

child_process& remote_site::start(const std::string& name, std::vector<std::string> arguments) {
  return processes_.emplace_back(name, arguments);
}

/// An empty word: whatever comes.
child_report remote_site::wait_for(child_process& child, std::string_view word, double seconds) {
  const auto end = deadline_after(seconds);
  auto report =
      word.empty() ? next_report(child, stop_, end) : wait_for_report(child, word, stop_, end);
  if (report.what == child_report::kind::line)
    return report;
  throw remote_failure{stop_.requested() ? remote_failure::kind::interrupted
                                         : remote_failure::kind::failed,
                       explain(child, report)};
}

} // namespace pubsub::tool::bench
