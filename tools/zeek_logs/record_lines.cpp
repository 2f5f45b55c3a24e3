// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/record_lines.hpp"

#include "zeek_logs/log_column.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <variant>

namespace pubsub::zeek {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000'000;

/// The digits behind the point: six, as Zeek has them, or nine where there is more.
void add_decimals(std::string& out, std::int64_t of_a_second) {
  const bool coarse = of_a_second % 1'000 == 0;
  const auto digits = std::to_string(coarse ? of_a_second / 1'000 : of_a_second);
  out.append((coarse ? 6 : 9) - digits.size(), '0') += digits;
}

void add_seconds(std::string& out, std::int64_t ns) {
  if (ns < 0)
    out += '-';
  out += std::to_string(std::abs(ns / nanoseconds)) + '.';
  add_decimals(out, std::abs(ns % nanoseconds));
}

void add_iso_time(std::string& out, std::int64_t ns) {
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
void add_real(std::string& out, real x) {
  std::array<char, 400> text{}; // the longest number in this notation has 327
  const auto [end, failed] =
      std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed);
  out.append(text.data(), end);
}

void add_escaped(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

/// What a column is made of.
struct notation {
  log_notation text;
  std::string_view escaped; ///< characters that may not stand in it
  std::string_view allowed; ///< control characters that may
  bool iso_times;

  bool may_stand(char c) const noexcept {
    const bool is_control = (c >= 0 && c < ' ') || c == 0x7f;
    return escaped.find(c) == escaped.npos && (!is_control || allowed.find(c) != allowed.npos);
  }
};

const notation& notation_of(line_format format) {
  static const notation tsv{{}, "\\", "", false};
  static const notation csv{{"\t", ",", "", ""}, "", "\t\n\r", true};
  return format == line_format::tsv ? tsv : csv;
}

class column_writer {
public:
  column_writer(const notation& how, std::string& out) : how_(how), out_(out) {}

  void write(const data& value, bool within_container) {
    within_container_ = within_container;
    std::visit([this](const auto& x) { add(x); }, value.variant());
  }

private:
  void add(const none&) { out_ += how_.text.unset_field; }
  void add(boolean x) { out_ += how_.iso_times ? (x ? "true" : "false") : (x ? "T" : "F"); }
  void add(count x) { out_ += std::to_string(x); }
  void add(integer x) { out_ += std::to_string(x); }
  void add(real x) { add_real(out_, x); }
  void add(timestamp x) {
    const auto ns = x.time_since_epoch().count();
    how_.iso_times ? add_iso_time(out_, ns) : add_seconds(out_, ns);
  }
  void add(timespan x) { add_seconds(out_, x.count()); }
  void add(const port& x) { out_ += std::to_string(x.number()); }
  void add(const enum_value& x) { add_text(to_string(x)); }
  void add(const std::string& x) {
    if (x.empty())
      out_ += how_.text.empty_field;
    else if (x == how_.text.unset_field || x == how_.text.empty_field) {
      add_escaped(out_, x.front()); // or it would be read as that
      out_ += x.substr(1);
    } else
      add_text(x);
  }
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
      if (!how_.may_stand(c) || (within_container_ && how_.text.set_separator.front() == c))
        add_escaped(out_, c);
      else
        out_ += c;
  }

  template <class Members>
  void add_members(const Members& members) {
    if (members.empty())
      out_ += how_.text.empty_field;
    bool first = true;
    for (const auto& each : members) {
      if (!first)
        out_ += how_.text.set_separator;
      first = false;
      column_writer{how_, out_}.write(each, true);
    }
  }

  const notation& how_;
  std::string& out_;
  bool within_container_ = false;
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

expected<void> record_lines::add(const read_record& record, std::string& out) {
  const bool is_first = last_.version == 0;
  const auto same = check_same_table(last_, record.schema);
  if (!is_first && !same && format_ == line_format::csv)
    return same.error();
  if (is_first || !same) {
    last_ = record.schema;
    add_header(last_, out);
  }
  const auto& how = notation_of(format_);
  std::string column;
  for (std::size_t i = 0; i < record.values.size(); ++i) {
    if (format_ == line_format::tsv) {
      out += i > 0 ? how.text.separator : "";
      column_writer{how, out}.write(record.values[i], false);
      continue;
    }
    column.clear();
    column_writer{how, column}.write(record.values[i], false);
    out += i > 0 ? "," : "";
    add_quoted(out, column);
  }
  out += '\n';
  return {};
}

void record_lines::add_header(const log_schema& schema, std::string& out) const {
  if (format_ == line_format::csv) {
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
      out += i > 0 ? "," : "";
      add_quoted(out, schema.fields[i].name);
    }
    out += '\n';
    return;
  }
  const log_notation usual;
  out += "#separator \\x09\n#set_separator\t" + usual.set_separator + "\n#empty_field\t" +
         usual.empty_field + "\n#unset_field\t" + usual.unset_field + "\n#path\t" + schema.path +
         "\n#fields";
  for (const auto& each : schema.fields)
    out += "\t" + each.name;
  out += "\n#types";
  for (const auto& each : schema.fields)
    out += "\t" + each.type;
  out += '\n';
}

} // namespace pubsub::zeek
