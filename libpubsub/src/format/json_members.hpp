// Plain JSON objects as text, for reports; values of the data model are written by json_writer.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/export.hpp>

namespace pubsub {

/// `text` in quotes; what is not UTF-8 in it becomes U+FFFD.
PUBSUB_EXPORT std::string json_string(std::string_view text);

/// The same, appended.
void append_json_string(std::string& out, std::string_view text);

/// Texts of values as a list.
PUBSUB_EXPORT std::string json_list(const std::vector<std::string>& values);

/// The members of one object, in the order they are added.
class PUBSUB_EXPORT json_members {
public:
  json_members& add(std::string_view name, std::string_view text) {
    return add_value(name, json_string(text));
  }
  json_members& add(std::string_view name, std::unsigned_integral auto number) {
    return add_value(name, std::to_string(number));
  }
  json_members& add(std::string_view name, const json_members& object) {
    return add_value(name, object.text());
  }
  /// `value` is JSON already.
  json_members& add_value(std::string_view name, std::string_view value);

  std::string text() const { return "{" + members_ + "}"; }

private:
  std::string members_;
};

} // namespace pubsub
