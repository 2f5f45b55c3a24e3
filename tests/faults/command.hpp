// How the programs of the fault suite are driven: one command a line in, one JSON object a line
// out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace faults {

/// `verb key=value key=value`, without spaces inside values.
class command {
public:
  explicit command(const std::string& line);

  const std::string& verb() const noexcept { return verb_; }
  /// Throws std::runtime_error where the key is missing and no fallback is given.
  std::string text(const std::string& key) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  /// Throws std::runtime_error where the value is no number, too.
  std::uint64_t number(const std::string& key) const;
  std::uint64_t number(const std::string& key, std::uint64_t fallback) const;

private:
  std::string verb_;
  std::map<std::string, std::string> values_;
};

/// Builds `{...}` member by member.
class json_object {
public:
  json_object& add(std::string_view key, std::string_view value);
  json_object& add(std::string_view key, const char* value) {
    return add(key, std::string_view{value});
  }
  template <std::integral T>
  json_object& add(std::string_view key, T value) {
    if constexpr (std::same_as<T, bool>)
      return add_raw(key, value ? "true" : "false");
    else
      return add_raw(key, std::to_string(value));
  }
  /// `value` is JSON already.
  json_object& add_raw(std::string_view key, std::string_view value);
  std::string text() const { return "{" + body_ + "}"; }

private:
  std::string body_;
};

/// Builds `[...]`.
class json_list {
public:
  /// `value` is JSON already.
  json_list& add(std::string_view value);
  std::string text() const { return "[" + body_ + "]"; }

private:
  std::string body_;
};

/// Lets `handle` answer one line, and prints `{"ok":true,...}`, or what went wrong.
void answer(const std::string& line, const std::function<json_object(const command&)>& handle);

} // namespace faults
