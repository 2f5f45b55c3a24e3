// Prometheus's text format, version 0.0.4, as far as an endpoint needs it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/utf8.hpp"

namespace pubsub {

/// The labels of one sample, in the order they are added.
class metric_labels {
public:
  /// What is not UTF-8 in `value` becomes U+FFFD.
  metric_labels& add(std::string_view name, std::string_view value) {
    text_ += text_.empty() ? "" : ",";
    text_ += name;
    text_ += "=\"";
    while (!value.empty()) {
      const auto size = utf8_character_bytes(value);
      if (size == 0)
        text_ += "\xef\xbf\xbd";
      else if (value[0] == '\n')
        text_ += "\\n";
      else
        (value[0] == '"' || value[0] == '\\' ? text_ += '\\' : text_) += value.substr(0, size);
      value.remove_prefix(size == 0 ? 1 : size);
    }
    text_ += '"';
    return *this;
  }
  const std::string& text() const noexcept { return text_; }
  friend auto operator<=>(const metric_labels&, const metric_labels&) = default;

private:
  std::string text_;
};

/// Families of samples, one after the other. No two samples of a family may have the same labels.
class exposition {
public:
  /// Begins a family: a counter if its name ends in `_total`, else a gauge.
  void begin(std::string name, std::string_view help) {
    family_ = std::move(name);
    text_.append("# HELP ").append(family_).append(" ").append(help).append("\n# TYPE ");
    text_.append(family_).append(family_.ends_with("_total") ? " counter\n" : " gauge\n");
  }
  void add(const metric_labels& labels, std::unsigned_integral auto value) {
    add(labels, std::to_string(value));
  }
  void add(const metric_labels& labels, double value) { add(labels, std::to_string(value)); }
  /// A family that has a single sample.
  void single(std::string name, std::string_view help, auto value) {
    begin(std::move(name), help);
    add({}, value);
  }
  std::string text() && { return std::move(text_); }

private:
  void add(const metric_labels& labels, const std::string& value) {
    text_ += family_;
    if (!labels.text().empty())
      text_.append("{").append(labels.text()).append("}");
    text_.append(" ").append(value).append("\n");
  }

  std::string family_;
  std::string text_;
};

/// What this process uses, under the names that Prometheus's own client libraries have for it.
/// Leaves out what the system does not tell.
void add_process_metrics(exposition& to);

} // namespace pubsub
