// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/log_lines.hpp>

#include "zeek/zeek_text.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace pubsub::zeek {

namespace {

class json_value {
public:
  json_value(std::string& out, json_times times) : out_(out), times_(times) {}

  void write(const data& value) {
    std::visit([this](const auto& x) { add(x); }, value.variant());
  }

private:
  void add(const none&) { out_ += "null"; }
  void add(boolean x) { out_ += x ? "true" : "false"; }
  void add(count x) { out_ += std::to_string(x); }
  void add(integer x) { out_ += std::to_string(x); }
  void add(real x) { add_json_real(out_, x); }
  void add(timespan x) { add_json_real(out_, seconds_of(x)); }
  void add(timestamp x) {
    const auto seconds = seconds_of(x.time_since_epoch());
    if (times_ == json_times::iso8601) {
      out_ += '"';
      add_iso_time(out_, seconds);
      out_ += '"';
    } else if (times_ == json_times::millis) {
      out_ += std::to_string(static_cast<std::int64_t>(seconds * 1000));
    } else {
      add_json_real(out_, seconds);
    }
  }
  void add(const port& x) { out_ += std::to_string(x.number()); }
  void add(const address& x) {
    add_address(out_ += '"', x);
    out_ += '"';
  }
  void add(const subnet& x) {
    add_address(out_ += '"', x.network());
    out_ += '/' + std::to_string(x.length()) + '"';
  }
  void add(const enum_value& x) { add_json_text(out_, x.name()); }
  void add(const std::string& x) { add_json_text(out_, x); }
  void add(const set& x) { add_members(x); }
  void add(const vector& x) { add_members(x); }

  /// Zeek's logs have no tables; those that JSON logs have are objects.
  void add(const table& x) {
    out_ += '{';
    bool first = true;
    for (const auto& [key, value] : x) {
      if (!std::exchange(first, false))
        out_ += ',';
      const auto* const name = key.get_if<std::string>();
      add_json_text(out_, name != nullptr ? *name : to_string(key));
      out_ += ':';
      write(value);
    }
    out_ += '}';
  }

  template <class Members>
  void add_members(const Members& members) {
    out_ += '[';
    bool first = true;
    for (const auto& each : members) {
      if (!std::exchange(first, false))
        out_ += ',';
      write(each);
    }
    out_ += ']';
  }

  std::string& out_;
  const json_times times_;
};

class json_lines final : public log_lines {
public:
  explicit json_lines(const json_lines_options& options) : options_(options) {}

  void add_header(const log_schema&, std::string_view, std::string&) const override {}
  void add_end(std::string_view, std::string&) const override {}

  void add_record(const log_schema& schema, const vector& values, std::string& out) const override {
    out += '{';
    bool first = true;
    const auto columns = std::min(values.size(), schema.fields.size());
    for (std::size_t i = 0; i < columns; ++i) {
      if (values[i].is<none>() && !options_.with_unset)
        continue;
      if (!std::exchange(first, false))
        out += ',';
      add_json_text(out, schema.fields[i].name);
      out += ':';
      json_value{out, options_.times}.write(values[i]);
    }
    out += "}\n";
  }

private:
  const json_lines_options options_;
};

} // namespace

std::unique_ptr<log_lines> make_json_lines(const json_lines_options& options) {
  return std::make_unique<json_lines>(options);
}

} // namespace pubsub::zeek
