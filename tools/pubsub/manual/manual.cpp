// SPDX-License-Identifier: BSD-3-Clause
#include "manual/manual.hpp"

#include "config_file.hpp"
#include "manual/command_text.hpp"
#include "manual/roff_page.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

bool has_file(const CLI::App& command) {
  return command.get_option_no_throw(config_option) != nullptr;
}

std::string file_name(const CLI::App& command) {
  return page_name(command) + ".toml";
}

/// What an option expects: bold where it stands for itself, slanted where something takes its
/// place.
std::string placeholder(const CLI::Option& option) {
  std::string result;
  for (const auto& each : allowed_values(option))
    result += (result.empty() ? "" : "|") + bold(each);
  return result.empty() ? italic(value_name(option)) : result;
}

std::string as_sentence(const std::string& text) {
  return text.empty() || text.ends_with('.') ? text : text + ".";
}

/// The sentence about an option, with what is checked and what holds without it.
std::string meaning(const CLI::Option& option) {
  auto result = roff_sentence(option.get_description());
  const auto add = [&result](const std::string& sentence) {
    result = as_sentence(result) + " " + sentence;
  };
  const auto type = option.get_type_name();
  constexpr std::string_view range = " in [";
  if (const auto at = type.find(range); at != std::string::npos) {
    auto limits = type.substr(at + range.size(), type.find(']', at) - at - range.size());
    const auto between = limits.find(" - ");
    add(fmt::format("From {} to {}", limits.substr(0, between), limits.substr(between + 3)));
  } else if (type.ends_with(":POSITIVE")) {
    add("More than 0");
  } else if (type.ends_with(":NONNEGATIVE")) {
    add("Not less than 0");
  }
  if (const auto preset = option.get_default_str(); !preset.empty())
    add("The default is " + bold(preset));
  for (const auto* const other : option.get_excludes())
    add("Not together with " + bold(other->get_name()));
  return as_sentence(result);
}

std::string option_head(const CLI::Option& option) {
  std::string result;
  const auto add = [&result](const std::string& dashes, const std::string& name) {
    result += (result.empty() ? "" : ", ") + bold(dashes + name);
  };
  for (const auto& name : option.get_snames())
    add("-", name);
  for (const auto& name : option.get_lnames())
    add("--", name);
  return is_flag(option) ? result : result + " " + placeholder(option);
}

void add_synopsis(roff_page& page, const CLI::App& command) {
  auto line = bold(full_name(command));
  if (!shown_subcommands(command).empty())
    line += " " + italic("COMMAND") + " [" + italic("ARGUMENT") + "]...";
  else if (!shown_options(command).empty())
    line += " [" + italic("OPTION") + "]...";
  for (const auto* const each : shown_positionals(command))
    line += " " + (each->get_required() ? placeholder(*each) : "[" + placeholder(*each) + "]");
  page.heading("SYNOPSIS").paragraph(line);
}

void add_arguments(roff_page& page, const CLI::App& command) {
  if (const auto all = shown_positionals(command); !all.empty()) {
    page.heading("ARGUMENTS");
    for (const auto* const each : all)
      page.item(placeholder(*each), meaning(*each));
  }
  if (const auto all = shown_options(command); !all.empty()) {
    page.heading("OPTIONS");
    for (const auto* const each : all)
      page.item(option_head(*each), meaning(*each));
  }
  if (const auto all = shown_subcommands(command); !all.empty()) {
    page.heading("COMMANDS");
    for (const auto* const each : all)
      page.item(bold(page_name(*each)) + "(1)",
                roff_sentence(as_sentence(each->get_description())));
  }
}

/// `0 ok, 1 usage, ...` as a list.
void add_exit_status(roff_page& page, std::string text) {
  if (text.ends_with('.'))
    text.pop_back();
  page.heading("EXIT STATUS");
  std::string_view rest = text;
  while (!rest.empty()) {
    auto end = rest.find(", ");
    while (end != std::string_view::npos && std::isdigit(rest[end + 2]) == 0)
      end = rest.find(", ", end + 1);
    const auto each = rest.substr(0, end);
    const auto space = each.find(' ');
    page.item(bold(each.substr(0, space)),
              roff_sentence(as_sentence(std::string{each.substr(space + 1)})));
    rest.remove_prefix(std::min(each.size() + 2, rest.size()));
  }
}

void add_see_also(roff_page& page, const CLI::App& command) {
  std::vector<std::string> names;
  const auto own = page_name(command);
  for (auto dash = own.find('-'); dash != std::string::npos; dash = own.find('-', dash + 1))
    names.push_back(own.substr(0, dash));
  std::string line;
  for (const auto& name : names)
    line += (line.empty() ? "" : ", ") + bold(name) + "(1)";
  if (has_file(command))
    line += (line.empty() ? "" : ", ") + bold(file_name(command)) + "(5)";
  if (!line.empty())
    page.heading("SEE ALSO").paragraph(line);
}

/// What is told at the top of all commands holds for those below it.
std::string exit_status_of(const CLI::App& command) {
  const auto own = footer_text::of(command).exit_status;
  return !own.empty() || command.get_parent() == nullptr ? own
                                                         : exit_status_of(*command.get_parent());
}

/// The lines of the examples that stand in a file, not in a shell.
std::string file_example(const CLI::App& command) {
  constexpr std::size_t depth = 10;
  std::istringstream lines{footer_text::of(command).examples};
  std::string result;
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(' ') == depth)
      result += line.substr(depth) + "\n";
  return result;
}

std::string kind_of_value(const CLI::Option& option) {
  if (is_flag(option))
    return "true";
  if (const auto values = placeholder(option); !allowed_values(option).empty())
    return "\"" + values + "\"";
  if (value_name(option) == number_name)
    return italic(number_name);
  const auto text = "\"" + italic(value_name(option)) + "\"";
  return is_repeatable(option) ? "[" + text + ", ...]" : text;
}

expected<void> write_page(const std::filesystem::path& path, const std::string& text) {
  std::error_code failure;
  std::filesystem::create_directories(path.parent_path(), failure);
  std::ofstream file{path};
  file << text;
  file.close();
  if (!file)
    return error{errc::cannot_open_file, path.string() + " cannot be written"};
  return {};
}

/// Commands that are another program's are left to that.
expected<void> write_pages(const CLI::App& command, const std::filesystem::path& folder) {
  if (command.get_prefix_command())
    return {};
  if (auto ok = write_page(folder / "man1" / (page_name(command) + ".1"), manual_page(command));
      !ok)
    return ok;
  if (has_file(command))
    if (auto ok = write_page(folder / "man5" / (file_name(command) + ".5"), file_page(command));
        !ok)
      return ok;
  for (const auto* const each : shown_subcommands(command))
    if (auto ok = write_pages(*each, folder); !ok)
      return ok;
  return {};
}

} // namespace

std::string manual_page(const CLI::App& command) {
  roff_page page{page_name(command), 1, command.get_description()};
  const auto footer = footer_text::of(command);
  add_synopsis(page, command);
  page.heading("DESCRIPTION").paragraph(roff_sentence(as_sentence(command.get_description())));
  if (!footer.text.empty())
    page.paragraph(roff_sentence(footer.text));
  add_arguments(page, command);
  if (!footer.signals.empty())
    page.heading("SIGNALS").paragraph(roff_sentence(footer.signals));
  add_exit_status(page, exit_status_of(command));
  if (!footer.conditions.empty())
    page.heading("CONDITIONS").listing(footer.conditions);
  if (!footer.examples.empty()) {
    page.heading("EXAMPLES");
    if (footer.heading != "Examples:")
      page.paragraph(roff_sentence(footer.heading));
    page.listing(footer.examples);
  }
  add_see_also(page, command);
  return page.text();
}

std::string file_page(const CLI::App& command) {
  roff_page page{file_name(command), 5, "Configuration of `" + full_name(command) + "`"};
  page.heading("DESCRIPTION")
      .paragraph(fmt::format("A file in TOML that the option {} of {}(1) names. Each key is an "
                             "option of that command, "
                             "without the dashes in front; within it, {} is the same as {}. What "
                             "is given on the command "
                             "line counts more than the file.",
                             bold(config_option), bold(page_name(command)), bold("_"), bold("-")));
  page.heading("KEYS");
  for (const auto* const each : shown_options(command)) {
    if (!belongs_in_file(*each))
      continue;
    auto key = each->get_lnames().front();
    std::ranges::replace(key, '-', '_');
    page.item(bold(key) + " = " + kind_of_value(*each), meaning(*each));
  }
  if (const auto example = file_example(command); !example.empty())
    page.heading("EXAMPLE").listing(example);
  page.heading("SEE ALSO").paragraph(bold(page_name(command)) + "(1)");
  return page.text();
}

void add_manual(CLI::App& app, exit_code& outcome) {
  auto* const command = app.add_subcommand("manual", "Write the pages of the manual into a folder");
  command->group(""); // not shown
  auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "A folder for man1 and man5")->required();
  command->callback([&app, &outcome, folder] {
    if (const auto ok = write_pages(app, *folder); !ok)
      outcome = fail(ok.error());
  });
}

} // namespace pubsub::tool
