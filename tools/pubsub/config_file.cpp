// SPDX-License-Identifier: BSD-3-Clause
#include "config_file.hpp"

#include "terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#ifdef PUBSUB_HAS_TOML
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
#endif

namespace pubsub::tool {

bool belongs_in_file(const CLI::Option& option) {
  static const std::set<std::string> others{"--help", config_option, "--check", "--dry-run"};
  return !others.contains(option.get_name());
}

void parse(CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> backwards{arguments.rbegin(), arguments.rend()}; // as CLI11 takes them
  command.parse(backwards);
}

std::set<std::string> options_given(const std::vector<std::string>& arguments) {
  std::set<std::string> result;
  for (const auto& each : arguments)
    if (each.starts_with("--"))
      result.insert(each.substr(0, each.find('=')));
  return result;
}

std::string value_of(std::string_view option, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& each = arguments[i];
    if (each == option)
      return i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (each.starts_with(option) && each.substr(option.size()).starts_with("="))
      return each.substr(option.size() + 1);
  }
  return {};
}

#ifdef PUBSUB_HAS_TOML
namespace {

/// A value as it would stand on the command line; nothing for a table or a date.
std::optional<std::string> as_argument(const toml::node& value) {
  if (const auto text = value.value_exact<std::string>())
    return *text;
  if (const auto number = value.value_exact<std::int64_t>())
    return std::to_string(*number);
  if (const auto number = value.value_exact<double>())
    return fmt::format("{}", *number);
  return {};
}

error mistake(const std::string& path, const toml::source_region& where, const std::string& what) {
  return {errc::invalid_argument, fmt::format("{}:{}: {}", path, where.begin.line, what)};
}

expected<toml::table> parse_file(const std::string& path) {
  errno = 0;
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file)
    return error{errc::cannot_open_file,
                 path + ": " + (errno != 0 ? std::strerror(errno) : "cannot be read")};
  auto document = toml::parse(text);
  if (!document)
    return mistake(path, document.error().source(), std::string{document.error().description()});
  return std::move(document).table();
}

class reader {
public:
  reader(std::string path, const std::function<void(CLI::App&)>& make_command)
      : path_(std::move(path)), make_command_(make_command) {
    make_command_(known_);
  }

  expected<std::vector<config_entry>> read(const toml::table& all,
                                           const std::set<std::string_view>& others) {
    std::vector<config_entry> result;
    for (const auto& [key, value] : all) {
      if (others.contains(key.str()))
        continue;
      auto entry = read(std::string{key.str()}, value);
      if (!entry)
        return entry.error();
      result.push_back(std::move(*entry));
    }
    return result;
  }
  error at(const toml::source_region& where, const std::string& what) const {
    return mistake(path_, where, what);
  }

private:
  expected<config_entry> read(const std::string& key, const toml::node& value) {
    auto name = key;
    std::ranges::replace(name, '_', '-');
    config_entry entry{"--" + name, {}};
    const auto* const option = known_.get_option_no_throw(entry.option);
    if (option == nullptr || !belongs_in_file(*option))
      return at(value.source(), fmt::format("there is no key '{}'{}", key, similar(name)));
    const auto fault = option->get_items_expected_max() == 0 ? read_flag(value, entry)
                                                             : read_values(*option, value, entry);
    if (!fault.empty())
      return at(value.source(), fmt::format("{}: {}", key, fault));
    if (const auto wrong = try_out(entry); !wrong.empty())
      return at(value.source(), wrong);
    return entry;
  }
  static std::string read_flag(const toml::node& value, config_entry& to) {
    const auto on = value.value_exact<bool>();
    if (on && *on)
      to.arguments.push_back(to.option);
    return on ? "" : "true or false is expected";
  }
  static std::string read_values(const CLI::Option& option, const toml::node& value,
                                 config_entry& to) {
    const auto* const list = value.as_array();
    if (list != nullptr && option.get_items_expected_max() == 1)
      return "one value is expected, and no list";
    const auto add = [&to](const toml::node& each) {
      const auto text = as_argument(each);
      if (text)
        to.arguments.push_back(to.option + "=" + *text);
      return text.has_value();
    };
    if (list == nullptr)
      return add(value) ? "" : "a string or a number is expected";
    for (const auto& each : *list)
      if (!add(each))
        return "a list of strings or numbers is expected";
    return {};
  }
  /// What the command says of this option alone; empty if nothing.
  std::string try_out(const config_entry& entry) const {
    CLI::App command;
    make_command_(command);
    command.parse_complete_callback({}); // looks at several options together
    try {
      parse(command, entry.arguments);
    } catch (const CLI::ParseError& problem) {
      std::string_view text = problem.what();
      return std::string{text.substr(text.starts_with("--") ? 2 : 0)};
    }
    return {};
  }
  /// A key that was meant, perhaps: one that begins alike.
  std::string similar(const std::string& name) const {
    for (const auto* const each : known_.get_options()) {
      const auto known = each->get_name().substr(2);
      if (!name.empty() && belongs_in_file(*each) &&
          (known.starts_with(name) || name.starts_with(known) ||
           known.substr(0, 4) == name.substr(0, 4)))
        return fmt::format("; is '{}' meant?", known);
    }
    return "; keys are the options of this command (--help)";
  }

  const std::string path_;
  const std::function<void(CLI::App&)>& make_command_;
  CLI::App known_;
};

/// One table of several: its name, its kind, and all else by what the kind knows.
expected<config_table> read_table(
    const std::string& path, const toml::table& from, std::string_view kind_key,
    const std::function<std::function<void(CLI::App&)>(const std::string& kind)>& make_command) {
  config_table result;
  result.place = fmt::format("{}:{}", path, from.source().begin.line);
  result.name = from["name"].value_or(std::string{});
  result.kind = from[kind_key].value_or(std::string{});
  if (result.name.empty() || result.kind.empty())
    return mistake(path, from.source(), fmt::format("name and {} are missing", kind_key));
  const auto known = make_command(result.kind);
  if (!known)
    return mistake(path, from[kind_key].node()->source(),
                   fmt::format("{}: there is no '{}'", kind_key, result.kind));
  auto entries = reader{path, known}.read(from, {"name", kind_key});
  if (!entries)
    return entries.error();
  result.entries = std::move(*entries);
  return result;
}

} // namespace

expected<std::vector<config_entry>>
read_config(const std::string& path, const std::function<void(CLI::App&)>& make_command) {
  const auto document = parse_file(path);
  if (!document)
    return document.error();
  return reader{path, make_command}.read(*document, {rules_key, bridges_key});
}

expected<std::vector<config_table>> read_config_tables(
    const std::string& path, std::string_view key, std::string_view kind_key,
    const std::function<std::function<void(CLI::App&)>(const std::string& kind)>& make_command) {
  const auto document = parse_file(path);
  if (!document)
    return document.error();
  std::vector<config_table> result;
  const auto* const found = document->get(key);
  if (found == nullptr)
    return result;
  const auto* const list = found->as_array();
  if (list == nullptr || list->empty() || !list->is_array_of_tables())
    return mistake(path, found->source(), fmt::format("these are tables [[{}]]", key));
  for (const auto& each : *list) {
    auto table = read_table(path, *each.as_table(), kind_key, make_command);
    if (!table)
      return table.error();
    if (std::ranges::count(result, table->name, &config_table::name) > 0)
      return mistake(path, each.source(),
                     fmt::format("another {} has the name '{}'", key, table->name));
    result.push_back(std::move(*table));
  }
  return result;
}
#else
expected<std::vector<config_entry>> read_config(const std::string&,
                                                const std::function<void(CLI::App&)>&) {
  return error{errc::not_supported, "this build reads no TOML: toml++ was not found"};
}

expected<std::vector<config_table>>
read_config_tables(const std::string&, std::string_view, std::string_view,
                   const std::function<std::function<void(CLI::App&)>(const std::string&)>&) {
  return error{errc::not_supported, "this build reads no TOML: toml++ was not found"};
}
#endif

} // namespace pubsub::tool
