// A Zeek enum label such as `Conn::LOG`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace pubsub {

/// An identifier held as text; the schema that gives it a number stays in Zeek.
class enum_value {
public:
  enum_value() = default;
  explicit enum_value(std::string name) : name_(std::move(name)) {}

  const std::string& name() const noexcept { return name_; }

  friend auto operator<=>(const enum_value&, const enum_value&) = default;
  friend bool operator==(const enum_value&, const enum_value&) = default;

private:
  std::string name_;
};

inline const std::string& to_string(const enum_value& x) {
  return x.name();
}

} // namespace pubsub
