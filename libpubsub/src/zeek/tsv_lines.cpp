// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/log_lines.hpp>

#include "zeek/zeek_text.hpp"

#include <utility>
#include <variant>

namespace pubsub::zeek {

namespace {

// How Zeek's ASCII writer marks what is not an ordinary value, unless a site changes it.
constexpr std::string_view set_separator = ",";
constexpr std::string_view empty_field = "(empty)";
constexpr std::string_view unset_field = "-";

class tsv_column {
public:
  tsv_column(std::string& out, place where) : out_(out), where_(where) {}

  void write(const data& value) {
    std::visit([this](const auto& x) { add(x); }, value.variant());
  }

private:
  void add(const none&) { out_ += unset_field; }
  void add(boolean x) { out_ += x ? 'T' : 'F'; }
  void add(count x) { out_ += std::to_string(x); }
  void add(integer x) { out_ += std::to_string(x); }
  void add(real x) { add_real(out_, x); }
  void add(timestamp x) { add_seconds(out_, seconds_of(x.time_since_epoch())); }
  void add(timespan x) { add_seconds(out_, seconds_of(x)); }
  void add(const port& x) { out_ += std::to_string(x.number()); }
  void add(const address& x) { add_address(out_, x); }
  void add(const subnet& x) {
    add_address(out_, x.network());
    out_ += '/' + std::to_string(x.length());
  }
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

  void add_text(std::string_view x) {
    if (x.empty()) {
      out_ += empty_field;
    } else if (x == unset_field || x == empty_field) {
      add_hidden_byte(x.front()); // or it would be read as that
      add_escaped(out_, x.substr(1), where_);
    } else {
      add_escaped(out_, x, where_);
    }
  }
  void add_hidden_byte(char x) { out_ += x == '-' ? "\\x2d" : "\\x28"; }

  template <class Members>
  void add_members(const Members& members) {
    if (members.empty())
      out_ += empty_field;
    bool first = true;
    for (const auto& each : members) {
      if (!std::exchange(first, false))
        out_ += set_separator;
      tsv_column{out_, place::container}.write(each);
    }
  }

  std::string& out_;
  const place where_;
};

class tsv_lines final : public log_lines {
public:
  void add_header(const log_schema& schema, std::string_view opened,
                  std::string& out) const override {
    out.append("#separator \\x09\n#set_separator\t").append(set_separator);
    out.append("\n#empty_field\t").append(empty_field);
    out.append("\n#unset_field\t").append(unset_field).append("\n#path\t");
    add_header_text(out, schema.path);
    if (!opened.empty())
      out.append("\n#open\t").append(opened);
    out += "\n#fields";
    for (const auto& each : schema.fields)
      add_header_text(out += '\t', each.name);
    out += "\n#types";
    for (const auto& each : schema.fields)
      add_header_text(out += '\t', each.type);
    out += '\n';
  }

  void add_record(const log_schema&, const vector& values, std::string& out) const override {
    const auto begin = out.size();
    bool first = true;
    for (const auto& each : values) {
      if (!std::exchange(first, false))
        out += '\t';
      tsv_column{out, place::column}.write(each);
    }
    if (out.size() > begin && out[begin] == '#')
      out.replace(begin, 1, "\\x23"); // or the line would be read as one of the header
    out += '\n';
  }

  void add_end(std::string_view closed, std::string& out) const override {
    out.append("#close\t").append(closed) += '\n';
  }
};

} // namespace

log_lines::~log_lines() = default;

std::unique_ptr<log_lines> make_tsv_lines() {
  return std::make_unique<tsv_lines>();
}

} // namespace pubsub::zeek
