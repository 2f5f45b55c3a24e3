// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"

#include <charconv>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace faults {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

} // namespace

command::command(const std::string& line) {
  std::istringstream words{line};
  words >> verb_;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw std::runtime_error{"'" + word + "' is not of the form key=value"};
    values_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

std::string command::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end())
    throw std::runtime_error{verb_ + " needs " + key + "=..."};
  return found->second;
}

std::string command::text(const std::string& key, const std::string& fallback) const {
  return values_.contains(key) ? text(key) : fallback;
}

std::uint64_t command::number(const std::string& key) const {
  const auto value = text(key);
  std::uint64_t x = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), x);
  if (failure != std::errc{} || end != value.data() + value.size())
    throw std::runtime_error{key + "=" + value + " is not a number"};
  return x;
}

std::uint64_t command::number(const std::string& key, std::uint64_t fallback) const {
  return values_.contains(key) ? number(key) : fallback;
}

json_object& json_object::add(std::string_view key, std::string_view value) {
  return add_raw(key, quoted(value));
}

json_object& json_object::add_raw(std::string_view key, std::string_view value) {
  if (!body_.empty())
    body_ += ',';
  body_ += quoted(key);
  body_ += ':';
  body_ += value;
  return *this;
}

json_list& json_list::add(std::string_view value) {
  if (!body_.empty())
    body_ += ',';
  body_ += value;
  return *this;
}

void answer(const std::string& line, const std::function<json_object(const command&)>& handle) {
  std::string reply;
  try {
    reply = handle(command{line}).add("ok", true).text();
  } catch (const std::exception& failure) {
    reply = json_object{}.add("ok", false).add("error", failure.what()).text();
  }
  std::cout << reply << std::endl;
}

} // namespace faults
