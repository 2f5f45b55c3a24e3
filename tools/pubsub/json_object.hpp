// Writes small JSON objects: status lines and reports.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pubsub::tool {

/// Members in the order they are added. Reals that are not finite become null.
class json_object {
public:
  json_object& add(std::string_view name, std::string_view text);
  json_object& add(std::string_view name, const char* text) {
    return add(name, std::string_view{text});
  }
  json_object& add(std::string_view name, double number);
  json_object&
  add(std::string_view name,
      std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>) {
    return add_raw(name, std::to_string(number));
  }
  json_object& add(std::string_view name, std::same_as<bool> auto truth) {
    return add_raw(name, truth ? "true" : "false");
  }
  json_object& add(std::string_view name, const std::vector<double>& numbers);
  json_object& add(std::string_view name, const std::vector<std::string>& texts);
  json_object& add(std::string_view name, const json_object& object) {
    return add_raw(name, object.text());
  }
  json_object& add(std::string_view name, const std::vector<json_object>& objects);

  std::string text() const { return "{" + members_ + "}"; }

private:
  json_object& add_raw(std::string_view name, std::string_view value);

  std::string members_;
};

} // namespace pubsub::tool
