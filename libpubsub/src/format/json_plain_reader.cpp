// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_messages.hpp"

#include <algorithm>

#include <simdjson.h>

namespace pubsub {

namespace {

namespace dom = simdjson::dom;

/// Lists and objects of strings, and what else may be in them, are not deep.
constexpr std::size_t max_depth = 64;

/// Holds what its root points into.
struct plain_document {
  explicit plain_document(std::string_view text) {
    const auto capacity = std::max(text.size(), dom::MINIMAL_DOCUMENT_CAPACITY);
    valid = !text.empty() && parser.allocate(capacity, max_depth) == simdjson::SUCCESS &&
            parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS;
  }

  dom::parser parser;
  dom::element root;
  bool valid = false;
};

} // namespace

expected<std::vector<std::string>> json_strings_from(std::string_view text) {
  const plain_document json{text};
  dom::array array;
  if (!json.valid || json.root.get(array) != simdjson::SUCCESS)
    return error{errc::invalid_json, "expected an array of strings"};
  std::vector<std::string> result;
  for (const auto member : array) {
    std::string_view each;
    if (member.get(each) != simdjson::SUCCESS)
      return error{errc::type_clash, "/" + std::to_string(result.size()) + ": expected a string"};
    result.emplace_back(each);
  }
  return result;
}

std::optional<std::map<std::string, std::string, std::less<>>>
json_string_members_from(std::string_view text) {
  const plain_document json{text};
  dom::object object;
  if (!json.valid || json.root.get(object) != simdjson::SUCCESS)
    return {};
  std::map<std::string, std::string, std::less<>> result;
  for (const auto [name, member] : object) {
    std::string_view each;
    if (member.get(each) == simdjson::SUCCESS)
      result.try_emplace(std::string{name}, each);
  }
  return result;
}

} // namespace pubsub
