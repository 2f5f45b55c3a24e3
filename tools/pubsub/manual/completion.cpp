// SPDX-License-Identifier: BSD-3-Clause
#include "manual/completion.hpp"

#include "manual/command_text.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr const char* bash_script =
    R"(# Completion of pubsub in bash: source <(pubsub completion bash)
_pubsub() {
  local found
  COMPREPLY=()
  mapfile -t found < <("$1" complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$2" 2>/dev/null)
  if [[ ${found[0]} == files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$2")
  else
    found=("${found[@]:1}")
    COMPREPLY=("${found[@]%%$'\t'*}")
  fi
}
complete -F _pubsub pubsub pubsub-bench
)";

constexpr const char* zsh_script = R"(#compdef pubsub pubsub-bench
# Completion of pubsub in zsh: source <(pubsub completion zsh)
_pubsub() {
  local -a found described
  local each
  found=("${(@f)$("${words[1]}" complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $found[1] == files ]]; then
    compset -P '--*='
    _files
    return
  fi
  for each in "${(@)found[2,-1]}"; do
    described+=("${${each%%$'\t'*}//:/\\:}:${each#*$'\t'}")
  done
  _describe -V pubsub described
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _pubsub "$@"
else
  compdef _pubsub pubsub pubsub-bench
fi
)";

constexpr const char* fish_script =
    R"(# Completion of pubsub in fish: pubsub completion fish | source
function __pubsub_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l found ($words[1] complete $words[2..-1] "$word" 2>/dev/null)
    if test "$found[1]" = files
        set -l option (string match -r '^--[^=]*=' -- $word)
        for each in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$word"))
            echo "$option$each"
        end
    else
        string join \n -- $found[2..-1]
    end
end
complete -c pubsub -f -a '(__pubsub_complete)'
complete -c pubsub-bench -f -a '(__pubsub_complete)'
)";

const std::map<std::string, const char*>& scripts() {
  static const std::map<std::string, const char*> all{
      {"bash", bash_script}, {"fish", fish_script}, {"zsh", zsh_script}};
  return all;
}

constexpr const char* completion_examples = R"(Examples:
  source <(pubsub completion bash)         in ~/.bashrc; zsh in the same way, behind compinit
  pubsub completion fish | source          in ~/.config/fish/config.fish
The Debian packages and `cmake --install` put the scripts where the shells find them. They ask the
command itself for what fits: its subcommands, options, the values of an option that has a fixed set
of them, and files where an option names one.)";

/// Follows the words of a command line from the first on.
class word_reader {
public:
  explicit word_reader(const CLI::App& app) : command_(&app) {}

  void pass(const std::string& word) {
    if (word == "=") // bash sets it apart; the value follows
      return;
    if (awaited_ != nullptr)
      awaited_ = nullptr;
    else if (word.starts_with('-'))
      pass_option(word);
    else if (const auto* const next = subcommand(word))
      *this = word_reader{*next};
    else
      ++positionals_;
  }

  void print(const std::string& word) const {
    const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    if (equals != std::string::npos)
      print_values(option(word.substr(0, equals)), word, word.substr(0, equals + 1));
    else if (awaited_ != nullptr)
      print_values(awaited_, word, "");
    else if (word.starts_with('-'))
      print_options(word);
    else
      print_arguments(word);
  }

private:
  const CLI::App* subcommand(const std::string& name) const {
    const auto all = shown_subcommands(*command_);
    const auto found = std::ranges::find(all, name, [](const auto* x) { return x->get_name(); });
    return found == all.end() ? nullptr : *found;
  }
  const CLI::Option* option(const std::string& name) const {
    return command_->get_option_no_throw(name);
  }
  void pass_option(const std::string& word) {
    const auto* const found = option(word.substr(0, word.find('=')));
    if (found == nullptr)
      return;
    given_.insert(found);
    if (!is_flag(*found) && word.find('=') == std::string::npos)
      awaited_ = found;
  }

  static void print_word(const std::string& word, const std::string& begin,
                         const std::string& what) {
    if (word.starts_with(begin))
      fmt::print("{}\t{}\n", word, what);
  }
  /// The prefix stands before each value.
  static void print_values(const CLI::Option* option, const std::string& begin,
                           const std::string& prefix) {
    fmt::print("{}\n", option != nullptr && names_file(*option) ? "files" : "words");
    if (option != nullptr)
      for (const auto& each : allowed_values(*option))
        print_word(prefix + each, begin, option->get_description());
  }
  void print_options(const std::string& begin) const {
    fmt::print("words\n");
    for (const auto* const each : shown_options(*command_))
      if (!given_.contains(each) || is_repeatable(*each))
        for (const auto& name : each->get_lnames())
          print_word("--" + name, begin, each->get_description());
  }
  void print_arguments(const std::string& begin) const {
    const auto positionals = shown_positionals(*command_);
    if (const auto all = shown_subcommands(*command_); !all.empty()) {
      fmt::print("words\n");
      for (const auto* const each : all)
        print_word(each->get_name(), begin, each->get_description());
    } else if (positionals_ < positionals.size()) {
      print_values(positionals[positionals_], begin, "");
    } else {
      print_options(begin);
    }
  }

  const CLI::App* command_;
  const CLI::Option* awaited_ = nullptr; // the one whose value comes next
  std::set<const CLI::Option*> given_;
  std::size_t positionals_ = 0;
};

} // namespace

void add_completion(CLI::App& app) {
  auto* const command = app.add_subcommand("completion", "Print what makes a shell complete words");
  auto shell = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const auto& [name, script] : scripts())
    names.push_back(name);
  allow_only(command->add_option("shell", *shell, "The shell that reads it"), names)->required();
  command->footer(completion_examples);
  command->callback([shell] { fmt::print("{}", scripts().at(*shell)); });
}

exit_code complete(const CLI::App& app, int argc, char** argv) {
  word_reader reader{app};
  for (int i = 2; i < argc - 1; ++i)
    reader.pass(argv[i]);
  reader.print(argc > 2 ? argv[argc - 1] : "");
  return exit_code::ok;
}

} // namespace pubsub::tool
