// SPDX-License-Identifier: BSD-3-Clause
#include "top/table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "terminal.hpp"

namespace pubsub::tool {

namespace {

// In the order of the enumeration, which is that on the screen.
constexpr auto all_columns = std::to_array<column_info>({
    {column::name, "name", "NAME", 12, true},
    {column::state, "state", "STATE", 10, true},
    {column::up, "up", "UP", 5, false},
    {column::links, "links", "LINKS", 5, false},
    {column::clients, "clients", "CLNTS", 5, false},
    {column::round_trip, "round-trip", "TRIP", 5, false},
    {column::in, "in", "IN/s", 5, false},
    {column::out, "out", "OUT/s", 5, false},
    {column::bytes_in, "bytes-in", "B-IN/s", 6, false},
    {column::bytes_out, "bytes-out", "BOUT/s", 6, false},
    {column::credit_waits, "credit-waits", "WAIT/s", 6, false},
    {column::queue, "queue", "QUEUE", 5, false},
    {column::full, "full", "FULL", 4, false},
    {column::drops, "drops", "DROP/s", 6, false},
    {column::dropped, "dropped", "DROPS", 5, false},
    {column::why, "why", "WHY", 24, true},
});

bool belongs_to(view which, column what) {
  switch (what) {
  case column::up:
  case column::links:
  case column::clients:
    return which == view::nodes;
  case column::round_trip:
    return which == view::links;
  case column::bytes_in:
  case column::bytes_out:
  case column::credit_waits:
    return which != view::subscribers;
  default:
    return true;
  }
}

/// What is left out where there is no room, the first of these first.
constexpr std::array least_important{column::why,          column::up,         column::links,
                                     column::credit_waits, column::round_trip, column::clients,
                                     column::bytes_in,     column::bytes_out,  column::dropped,
                                     column::queue,        column::full,       column::out};

/// Numbers by which rows are compared; what is not known is less than any other.
double weight_of(const row& of, column what) {
  constexpr double unknown = -1;
  const auto rate = [&](double x) { return of.rates_known ? x : unknown; };
  switch (what) {
  case column::state:
    return static_cast<double>(of.how);
  case column::up:
    return of.up_s.value_or(unknown);
  case column::links:
    return of.links ? static_cast<double>(*of.links) : unknown;
  case column::clients:
    return of.clients ? static_cast<double>(*of.clients) : unknown;
  case column::round_trip:
    return of.round_trip_s.value_or(unknown);
  case column::in:
    return rate(of.in);
  case column::out:
    return rate(of.out);
  case column::bytes_in:
    return rate(of.bytes_in);
  case column::bytes_out:
    return rate(of.bytes_out);
  case column::credit_waits:
    return rate(of.credit_waits);
  case column::queue:
    return static_cast<double>(of.queued);
  case column::full:
    return of.full;
  case column::drops:
    return rate(of.drops());
  case column::dropped:
    return static_cast<double>(of.dropped());
  case column::name:
  case column::why:
    break;
  }
  return 0;
}

/// `85us`, `1.2ms`, `120ms`, `1.2s`.
std::string round_trip_text(double seconds) {
  const auto scaled = [](double x, std::string_view unit) {
    return fmt::format("{:.{}f}{}", x, x < 9.95 ? 1 : 0, unit);
  };
  return seconds < 0.9995e-3 ? fmt::format("{:.0f}us", seconds * 1e6)
         : seconds < 0.9995  ? scaled(seconds * 1e3, "ms")
                             : scaled(seconds, "s");
}

std::string padded(std::string_view content, const column_info& in) {
  const auto cut = cut_to(content, in.width);
  const std::string space(in.width - width_of(cut), ' ');
  return in.text ? cut + space : space + cut;
}

template <class Cell>
std::string joined(std::span<const column_info> columns, Cell&& content) {
  std::string result;
  for (const auto& each : columns)
    result += (result.empty() ? "" : " ") + padded(content(each), each);
  return result;
}

std::size_t width_of_all(std::span<const column_info> columns) {
  std::size_t result = columns.size() - 1;
  for (const auto& each : columns)
    result += each.width;
  return result;
}

} // namespace

std::vector<column_info> columns_of(view which) {
  std::vector<column_info> result;
  for (const auto& each : all_columns)
    if (belongs_to(which, each.what))
      result.push_back(each);
  result.front().header = which == view::nodes ? "NAME" : which == view::links ? "PEER" : "WANTS";
  return result;
}

std::vector<column_info> columns_for(view which, std::size_t width) {
  auto result = columns_of(which);
  for (const auto what : least_important)
    if (width_of_all(result) > width)
      std::erase_if(result, [&](const column_info& each) { return each.what == what; });
  if (const auto used = width_of_all(result); used < width) {
    // A short name is found faster beside its numbers: the reason takes what names do not need.
    constexpr std::size_t widest_name = 32;
    auto& name = result.front();
    auto& last = result.back();
    const bool has_reason = last.what == column::why;
    const auto more = has_reason ? std::min(width - used, widest_name - name.width) : width - used;
    name.width += more;
    if (has_reason)
      last.width += width - used - more;
  }
  return result;
}

std::vector<std::string> column_names() {
  std::vector<std::string> result;
  for (const auto& each : all_columns)
    result.emplace_back(each.name);
  return result;
}

column column_named(std::string_view name) {
  return std::ranges::find(all_columns, name, &column_info::name)->what;
}

std::string_view name_of(column what) {
  return std::ranges::find(all_columns, what, &column_info::what)->name;
}

void sort_rows(std::vector<row>& rows, column by, direction which) {
  std::ranges::stable_sort(rows, {}, &row::name);
  const auto less = [&](const row& a, const row& b) {
    if (by == column::name)
      return a.name < b.name;
    if (by == column::why)
      return cell(a, by) < cell(b, by);
    return weight_of(a, by) > weight_of(b, by);
  };
  std::ranges::stable_sort(rows, [&](const row& a, const row& b) {
    return which == direction::usual ? less(a, b) : less(b, a);
  });
}

std::string cell(const row& of, column what) {
  const auto weight = weight_of(of, what);
  switch (what) {
  case column::name:
    return of.name;
  case column::state:
    return of.state;
  case column::why:
    return of.losses.empty() ? "" : of.losses.front().reason;
  case column::up:
    return weight < 0 ? "-" : short_duration(weight);
  case column::round_trip:
    return weight < 0 ? "-" : round_trip_text(weight);
  case column::full:
    return fmt::format("{:.0f}%", 100 * of.full);
  default:
    return weight < 0 ? "-" : short_number(weight);
  }
}

std::string line_of(const row& of, std::span<const column_info> columns) {
  return joined(columns, [&](const column_info& each) { return cell(of, each.what); });
}

std::string header_of(std::span<const column_info> columns) {
  return joined(columns, [&](const column_info& each) { return each.header; });
}

std::string plain_table(view which, const std::vector<row>& rows) {
  auto columns = columns_of(which);
  for (auto& each : columns)
    for (const auto& of : rows)
      each.width = std::max(each.width, width_of(cell(of, each.what)));
  std::string result;
  const auto add = [&](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  };
  add(header_of(columns));
  for (const auto& each : rows)
    add(line_of(each, columns));
  return result;
}

json_object json_of(view which, const row& of) {
  json_object result;
  result.add("name", of.name).add("state", of.state);
  if (of.up_s)
    result.add("uptime_s", *of.up_s);
  if (of.silent_s)
    result.add("silent_s", *of.silent_s);
  if (of.clients)
    result.add("clients", *of.clients);
  if (of.round_trip_s)
    result.add("round_trip_s", *of.round_trip_s);
  if (of.rates_known)
    result.add("in_per_s", of.in).add("out_per_s", of.out).add("dropped_per_s", of.drops());
  if (of.rates_known && which != view::subscribers)
    result.add("bytes_in_per_s", of.bytes_in)
        .add("bytes_out_per_s", of.bytes_out)
        .add("credit_waits_per_s", of.credit_waits);
  json_object reasons;
  for (const auto& each : of.losses)
    reasons.add(each.reason, each.count);
  return result.add("queued", of.queued)
      .add("full", of.full)
      .add("dropped", of.dropped())
      .add("dropped_by", reasons);
}

} // namespace pubsub::tool
