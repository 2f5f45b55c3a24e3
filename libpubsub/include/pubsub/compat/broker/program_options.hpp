// The options that programs add to Broker's configuration, and how a command line sets them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <pubsub/compat/broker/fwd.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// Options by name. A command line may have `--name=value`, `--flag`, `-n value` and `-f`; a list
/// is `a,b`, `[a, b]`, or an option given several times. What is no option remains.
class program_options {
public:
  using target = std::variant<std::int64_t*, std::uint64_t*, double*, bool*, std::string*,
                              std::vector<std::string>*>;

  /// `names`: `name` or `name,n`.
  void add(target to, std::string_view names, std::string_view description) {
    const auto comma = names.find(',');
    const auto letters = comma == names.npos ? std::string_view{} : names.substr(comma + 1);
    const auto name = names.substr(0, comma);
    options_.push_back({to, std::string{name}, std::string{letters}, std::string{description}});
  }

  /// Throws std::invalid_argument, which names the argument.
  void read(int argc, char** argv) {
    for (auto i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      if (argument == "--help" || argument == "-h") {
        std::cout << help_text();
        help_printed_ = true;
      } else if (argument.starts_with("--") && argument.size() > 2) {
        const auto equals = argument.find('=');
        take(argument, argument.substr(2, equals == argument.npos ? equals : equals - 2),
             equals == argument.npos ? std::string_view{} : argument.substr(equals + 1),
             equals != argument.npos);
      } else if (argument.starts_with('-') && argument.size() > 1) {
        const auto* named = with_letter(argument[1]);
        if (named == nullptr)
          throw std::invalid_argument{"unknown option: " + std::string{argument}};
        if (std::holds_alternative<bool*>(named->to))
          take(argument, named->name, {}, false);
        else if (argument.size() > 2)
          take(argument, named->name, argument.substr(2), true);
        else if (++i < argc)
          take(argument, named->name, argv[i], true);
        else
          throw std::invalid_argument{"a value is missing behind " + std::string{argument}};
      } else {
        remainder_.emplace_back(argument);
      }
    }
  }

  void set(std::string_view key, std::string value) { values_[plain(key)] = std::move(value); }
  /// The text of a value that was set or read; null if there is none.
  const std::string* find(std::string_view key) const {
    const auto found = values_.find(plain(key));
    return found != values_.end() ? &found->second : nullptr;
  }
  const std::vector<std::string>& remainder() const noexcept { return remainder_; }
  bool help_printed() const noexcept { return help_printed_; }
  std::string help_text() const {
    std::string text = "Options:\n";
    for (const auto& each : options_) {
      text += "  --" + each.name;
      for (const auto letter : each.letters)
        text += std::string{", -"} + letter;
      text += "  " + each.description + '\n';
    }
    return text;
  }

  /// `a,b` or `[a, "b"]`.
  static std::vector<std::string> split_list(std::string_view text) {
    if (text.starts_with('[') && text.ends_with(']'))
      text = text.substr(1, text.size() - 2);
    std::vector<std::string> parts;
    while (!text.empty()) {
      const auto comma = text.find(',');
      parts.emplace_back(trimmed(text.substr(0, comma)));
      text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
    }
    return parts;
  }
  template <class Number>
  static bool read_number(std::string_view text, Number& to) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), to);
    return problem == std::errc{} && end == text.data() + text.size();
  }
  static bool read_flag(std::string_view text, bool& to) {
    to = text == "true";
    return to || text == "false";
  }

private:
  struct option {
    target to;
    std::string name;
    std::string letters;
    std::string description;
  };

  /// Options of a program are in a group that need not be named.
  static std::string plain(std::string_view key) {
    constexpr std::string_view group = "global.";
    return std::string{key.starts_with(group) ? key.substr(group.size()) : key};
  }
  static std::string_view trimmed(std::string_view text) {
    constexpr auto outside = " \t\"'";
    const auto begin = text.find_first_not_of(outside);
    return begin == text.npos ? std::string_view{}
                              : text.substr(begin, text.find_last_not_of(outside) - begin + 1);
  }
  const option* with_letter(char letter) const {
    for (const auto& each : options_)
      if (each.letters.find(letter) != std::string::npos)
        return &each;
    return nullptr;
  }

  void take(std::string_view argument, std::string_view name, std::string_view value, bool given) {
    const auto key = plain(name);
    if (!given)
      value = "true";
    for (const auto& each : options_)
      if (each.name == key && !std::visit(text_reader{value}, each.to))
        throw std::invalid_argument{"not a value of this option: " + std::string{argument}};
    if (!is_known(key))
      throw std::invalid_argument{"unknown option: " + std::string{argument}};
    values_[key] = value;
  }
  /// Broker's own, and those of its actor framework, have a group.
  bool is_known(std::string_view key) const {
    for (const auto& each : options_)
      if (each.name == key)
        return true;
    return key.find('.') != key.npos;
  }

  /// Stores a text as what it denotes; false if it denotes no such value.
  struct text_reader {
    std::string_view text;
    bool operator()(std::string* to) const {
      *to = text;
      return true;
    }
    bool operator()(bool* to) const { return read_flag(text, *to); }
    bool operator()(std::vector<std::string>* to) const {
      for (auto& each : split_list(text))
        to->push_back(std::move(each));
      return true;
    }
    bool operator()(auto* to) const { return read_number(text, *to); }
  };

  std::vector<option> options_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> remainder_;
  bool help_printed_ = false;
};

} // namespace detail
} // namespace over_pubsub
} // namespace broker
