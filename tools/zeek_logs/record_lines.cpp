// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/record_lines.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <variant>

namespace pubsub::zeek {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;

/// The digits behind the point: six, or nine where there is more.
void add_decimals(std::string& out, std::int64_t of_a_second) {
  const bool coarse = of_a_second % 1'000 == 0;
  const auto digits = std::to_string(coarse ? of_a_second / 1'000 : of_a_second);
  out.append((coarse ? 6 : 9) - digits.size(), '0') += digits;
}

void add_exact_seconds(std::string& out, std::int64_t ns) {
  if (ns < 0)
    out += '-';
  out += std::to_string(std::abs(ns / nanoseconds)) + '.';
  add_decimals(out, std::abs(ns % nanoseconds));
}

void add_exact_time(std::string& out, std::int64_t ns) {
  auto second = static_cast<std::time_t>(ns / nanoseconds);
  auto rest = ns % nanoseconds;
  if (rest < 0) {
    --second;
    rest += nanoseconds;
  }
  std::tm parts{};
  std::array<char, 32> text{};
  const auto size =
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", gmtime_r(&second, &parts));
  out.append(text.data(), size);
  add_decimals(out, rest);
  out += 'Z';
}

/// Shortest digits that give the same number, without an exponent.
void add_exact_real(std::string& out, real x) {
  std::array<char, 400> text{}; // the longest number in this notation has 327
  const auto [end, failed] =
      std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed);
  out.append(text.data(), end);
}

void add_hex(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

/// A control character that could steer a terminal.
bool steers_terminal(char c) {
  return ((c >= 0 && c < ' ') || c == 0x7f) && c != '\t' && c != '\n' && c != '\r';
}

/// The column of a table of CSV, without quotes.
class csv_column {
public:
  explicit csv_column(std::string& out, bool within_container = false)
      : out_(out), within_container_(within_container) {}

  void write(const data& value) {
    std::visit([this](const auto& x) { add(x); }, value.variant());
  }

private:
  void add(const none&) {}
  void add(boolean x) { out_ += x ? "true" : "false"; }
  void add(count x) { out_ += std::to_string(x); }
  void add(integer x) { out_ += std::to_string(x); }
  void add(real x) { add_exact_real(out_, x); }
  void add(timestamp x) { add_exact_time(out_, x.time_since_epoch().count()); }
  void add(timespan x) { add_exact_seconds(out_, x.count()); }
  void add(const port& x) { out_ += std::to_string(x.number()); }
  void add(const enum_value& x) { add_text(x.name()); }
  void add(const std::string& x) { add_text(x); }
  void add(const set& x) { add_members(x); }
  void add(const vector& x) { add_members(x); }
  void add(const table& x) {
    vector members;
    for (const auto& [key, value] : x)
      members.push_back(data{vector{key, value}});
    add_members(members);
  }
  template <class T>
  void add(const T& x) {
    out_ += to_string(x);
  }

  void add_text(std::string_view text) {
    for (const char c : text)
      if (steers_terminal(c) || (within_container_ && c == ','))
        add_hex(out_, c);
      else
        out_ += c;
  }

  template <class Members>
  void add_members(const Members& members) {
    bool first = true;
    for (const auto& each : members) {
      if (!first)
        out_ += ',';
      first = false;
      csv_column{out_, true}.write(each);
    }
  }

  std::string& out_;
  const bool within_container_;
};

void add_quoted(std::string& out, std::string_view column) {
  if (column.find_first_of(",\"\n\r") == column.npos) {
    out += column;
    return;
  }
  out += '"';
  for (const char c : column) {
    out += c;
    if (c == '"')
      out += c;
  }
  out += '"';
}

} // namespace

expected<void> check_same_table(const log_schema& first, const log_schema& next) {
  if (first.path != next.path)
    return error{errc::invalid_data, "records of " + first.path + " and of " + next.path +
                                         " do not fit into one table; ask for the topic of one"};
  if (first.version != next.version)
    return error{errc::invalid_data,
                 "the columns of " + first.path + " have changed, and a table has one set of them"};
  return {};
}

record_lines::record_lines(line_format format) : format_(format), tsv_(make_tsv_lines()) {}

expected<void> record_lines::add(const read_record& record, std::string& out) {
  const bool is_first = last_.version == 0;
  const auto same = check_same_table(last_, record.schema);
  if (!is_first && !same && format_ == line_format::csv)
    return same.error();
  if (is_first || !same) {
    last_ = record.schema;
    add_header(out);
  }
  if (format_ == line_format::tsv) {
    tsv_->add_record(last_, record.values, out);
    return {};
  }
  std::string column;
  for (std::size_t i = 0; i < record.values.size(); ++i) {
    column.clear();
    csv_column{column}.write(record.values[i]);
    out += i > 0 ? "," : "";
    add_quoted(out, column);
  }
  out += '\n';
  return {};
}

void record_lines::add_header(std::string& out) const {
  if (format_ == line_format::tsv) {
    tsv_->add_header(last_, {}, out);
    return;
  }
  for (std::size_t i = 0; i < last_.fields.size(); ++i) {
    out += i > 0 ? "," : "";
    add_quoted(out, last_.fields[i].name);
  }
  out += '\n';
}

} // namespace pubsub::zeek
