// SPDX-License-Identifier: BSD-3-Clause
#include "versioned/versioned_report.hpp"

#include "kit/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

double p50(const versioned_round& x) {
  return x.sample.p50_us;
}
double p99(const versioned_round& x) {
  return x.sample.p99_us;
}
double bytes(const versioned_round& x) {
  return x.sample.costs.bytes;
}
double switches(const versioned_round& x) {
  return x.sample.costs.switches;
}
double cpu(const versioned_round& x) {
  return x.sample.costs.cpu_us;
}
double bare(const versioned_round& x) {
  return x.bare_p50_us;
}

std::string number_or_dash(const std::optional<double>& x, int digits) {
  return x ? fmt::format("{:.{}f}", *x, digits) : "-";
}

std::string title_of(const versioned_row& row) {
  const auto& x = row.setting;
  if (x.how == sending::pipelined)
    return fmt::format("{} bytes, pipelined, window {}", x.payload_bytes, x.window);
  return fmt::format("{} bytes, one outstanding; a bare TCP ping-pong takes {:.1f} us",
                     x.payload_bytes, row.statistics(bare).median);
}

void print_row(const versioned_row& row) {
  const auto name = to_string(row.setting.scheme);
  if (!row.measured()) {
    fmt::print("  {:<24} {}\n", name, row.status());
    return;
  }
  const auto seconds = row.seconds_per_million();
  fmt::print("  {:<24} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.1f} {:>9.1f} {:>5} {:>8} {:>10.1f} {:>8} "
             "{:>8.2f} {:>8.1f} {:>9}{}\n",
             name, seconds.median, seconds.min, seconds.max, row.statistics(p50).median,
             row.statistics(p99).median, hops_of(row.setting.scheme),
             number_or_dash(row.ratio_per_hop(), 2), row.statistics(bytes).median,
             number_or_dash(row.calls(), 2), row.statistics(switches).median,
             row.statistics(cpu).median, row.messages(),
             row.status() == "measured" ? "" : "  a round " + row.status());
}

} // namespace

bool versioned_row::measured() const {
  return std::ranges::any_of(rounds, [](const auto& x) { return x.sample.measured(); });
}

std::string versioned_row::status() const {
  if (const auto violated = violations())
    return fmt::format("violated: {} times", violated);
  for (const auto& x : rounds)
    if (!x.sample.measured())
      return "failed: " + x.sample.note;
  return "measured";
}

std::uint64_t versioned_row::messages() const {
  std::uint64_t sum = 0;
  for (const auto& x : rounds)
    sum += x.sample.messages;
  return sum;
}

std::uint64_t versioned_row::violations() const {
  std::uint64_t sum = 0;
  for (const auto& x : rounds)
    sum += x.sample.verdict.violations;
  return sum;
}

rate_statistics versioned_row::seconds_per_million() const {
  return statistics([](const auto& x) { return 1e6 / x.sample.rate(); });
}

rate_statistics versioned_row::rate() const {
  return statistics([](const auto& x) { return x.sample.rate(); });
}

std::optional<double> versioned_row::ratio_per_hop() const {
  if (setting.how == sending::pipelined || !measured())
    return {};
  const auto hops = hops_of(setting.scheme);
  return statistics([&](const auto& x) { return p50(x) / (hops * bare(x)); }).median;
}

std::optional<double> versioned_row::calls() const {
  std::vector<double> list;
  for (const auto& x : rounds)
    if (x.sample.measured() && x.sample.costs.calls)
      list.push_back(*x.sample.costs.calls);
  if (list.empty())
    return {};
  return rate_statistics::of(std::move(list)).median;
}

void print_versioned(const std::vector<versioned_row>& rows) {
  std::string title;
  for (const auto& row : rows) {
    if (auto now = title_of(row); row.measured() && now.substr(0, now.find(';')) != title) {
      fmt::print("{}{}\n  {:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>5} {:>8} {:>10} {:>8} {:>8} "
                 "{:>8} {:>9}\n",
                 title.empty() ? "" : "\n", now, "", "s/million", "min", "max", "p50 us", "p99 us",
                 "hops", "tcp/hop", "bytes", "calls", "switches", "cpu us", "messages");
      title = now.substr(0, now.find(';'));
    }
    print_row(row);
  }
}

std::string csv_of(const std::vector<versioned_row>& rows) {
  std::string text = "scheme,payload_bytes,pipelined,status,messages,seconds_per_million,"
                     "ack_latency_p50_us,ack_latency_p99_us,hops,ratio_per_hop,bytes_per_message,"
                     "system_calls_per_message,context_switches_per_message,cpu_us_per_message\n";
  for (const auto& row : rows) {
    const bool measured = row.measured();
    auto median = [&](auto part) {
      return measured ? fmt::format("{:.3f}", row.statistics(part).median) : "";
    };
    auto plain = [](const std::optional<double>& x) { return x ? fmt::format("{:.3f}", *x) : ""; };
    auto status = row.status();
    std::ranges::replace(status, ',', ';');
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", to_string(row.setting.scheme),
        row.setting.payload_bytes, row.setting.how == sending::pipelined, status, row.messages(),
        measured ? fmt::format("{:.4f}", row.seconds_per_million().median) : "", median(p50),
        median(p99), hops_of(row.setting.scheme), plain(row.ratio_per_hop()), median(bytes),
        plain(row.calls()), median(switches), median(cpu));
  }
  return text;
}

std::vector<json_object> describe(const std::vector<versioned_row>& rows) {
  std::vector<json_object> list;
  for (const auto& row : rows) {
    const auto& x = row.setting;
    const bool measured = row.measured();
    auto median = [&](auto part) { return measured ? row.statistics(part).median : NAN; };
    std::uint64_t checked = 0;
    for (const auto& round : row.rounds)
      checked += round.sample.verdict.checked;
    list.emplace_back()
        .add("scheme", to_string(x.scheme))
        .add("payload_bytes", x.payload_bytes)
        .add("pipelined", x.how == sending::pipelined)
        .add("status", row.status())
        .add("messages", row.messages())
        .add("seconds_per_million", measured ? row.seconds_per_million().median : NAN)
        .add("ack_latency_us", json_object{}.add("p50", median(p50)).add("p99", median(p99)))
        .add("msgs_per_s", describe(row.rate()))
        .add("hops", hops_of(x.scheme))
        .add("bare_ping_pong_us", median(bare))
        .add("ratio_per_hop", row.ratio_per_hop().value_or(NAN))
        .add("bytes_per_message", median(bytes))
        .add("system_calls_per_message", row.calls().value_or(NAN))
        .add("context_switches_per_message", median(switches))
        .add("cpu_us_per_message", median(cpu))
        .add("checked", checked)
        .add("violations", row.violations());
  }
  return list;
}

} // namespace pubsub::tool::bench
