// SPDX-License-Identifier: BSD-3-Clause
#include "where_options.hpp"

#ifdef PUBSUB_HAS_REGEX
#include <pubsub/regex.hpp>
#endif

namespace pubsub::tool {

const char* const condition_help = R"(Conditions:
  fields     uid, id.resp_p (columns of records)  $0, $1.2 (positions)  $ (the value)
             @event  @topic, @topic.0 (parts)  @size (bytes)
  values     5  -1.5  "text"  10.0.0.1  443/tcp  5s  2026-01-31T12:00:00Z  true  tcp (an enum's label)
  tests      == != < <= > >=   exists(service)   1 in 1000 by uid (a sample, flows stay whole)
             in 10.0.0.0/8, 1..10, "ab"*, /expression/ or {one, "of", "several"}
             tags has "dns" (a member of a set or vector)
  together   && || ! or and, or, not; parentheses
  A value that is not there makes no test true, not even a negated one. All of it is in
  docs/reference/conditions.md.)";

text_matcher_maker regular_expressions() noexcept {
#ifdef PUBSUB_HAS_REGEX
  return &make_re2_matcher;
#else
  return nullptr;
#endif
}

expected<condition> read_condition(std::string_view option, std::string_view text,
                                   if_unknown unknown) {
  condition_options how;
  how.unknown = unknown;
  how.regex = regular_expressions();
  auto made = condition::make(text, how);
  if (!made)
    return error{made.error().code(), std::string{option} + ": " + made.error().context()};
  return made;
}

expected<std::optional<condition>> where_options::read() const {
  if (text.empty())
    return std::optional<condition>{};
  auto made = read_condition("--where", text, pass_unknown ? if_unknown::yes : if_unknown::no);
  if (!made)
    return made.error();
  return std::optional{std::move(*made)};
}

void add_where_options(CLI::App& command, where_options& options) {
  command.add_option("--where", options.text, "Only messages that fulfil this condition")
      ->type_name("CONDITION");
  command.add_flag("--pass-unknown", options.pass_unknown,
                   "Let messages pass of which --where names columns that nobody has announced");
}

} // namespace pubsub::tool
