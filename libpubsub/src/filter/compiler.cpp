// Checks the types of an expression and makes a program of it.
// SPDX-License-Identifier: BSD-3-Clause
#include "filter/parser.hpp"
#include "filter/program.hpp"
#include "filter/text_cursor.hpp"

#include <algorithm>
#include <cmath>

namespace pubsub {

using namespace conditions;

namespace {

/// What is known of a field when the condition is made.
column_kinds kinds_of(const field& x) noexcept {
  switch (x.kind) {
  case field_kind::event_name:
  case field_kind::topic_name:
  case field_kind::topic_part:
    return {.known = true, .kinds = only(scalar_kind::text)};
  case field_kind::size_bytes:
    return {.known = true, .whole = true, .natural = true, .kinds = only(scalar_kind::number)};
  default:
    return {};
  }
}

bool is_order(comparison_kind x) noexcept {
  return x == comparison_kind::less || x == comparison_kind::less_equal ||
         x == comparison_kind::greater || x == comparison_kind::greater_equal;
}

/// Whether a column that holds whole numbers, or natural ones, can be equal to the number.
bool can_equal(const column_kinds& column, const scalar& x) noexcept {
  if (x.kind != scalar_kind::number)
    return true;
  const scalar zero{.kind = scalar_kind::number};
  if (column.natural && compare(x, zero) == order::less)
    return false;
  return !column.whole || !x.is_real || x.real == std::trunc(x.real);
}

} // namespace

bool named_column::accepts(std::string_view type) const noexcept {
  const auto its = kinds_of_type(type);
  return !typed || !its.known || (its.container == container && (its.kinds & kinds) != 0);
}

/// Not for use twice. The first failure stays.
class condition_compiler {
public:
  condition_compiler(std::string_view text, const condition_options& options,
                     condition_program& out) noexcept
      : text_(text), options_(options), out_(out) {}

  expected<void> run() {
    out_.unknown_ = options_.unknown;
    out_.columns_ = options_.columns;
    emit(out_.source_);
    if (failure_)
      return failure_;
    return {};
  }

private:
  void fail(std::string_view sentence, text_place place, errc code = errc::invalid_argument) {
    if (!failure_)
      failure_ = error{code, show_place(sentence, text_, place)};
  }

  void emit(const expression& x);
  void emit_test(const comparison& x);
  column_kinds find_column(const comparison& x, compiled_test& test);
  void check_kinds(const comparison& x, const column_kinds& subject, compiled_test& test);
  void check_pattern(const comparison& x, const pattern& each, const column_kinds& subject,
                     compiled_test& test);
  void add_pattern(const pattern& x, compiled_test& test);
  void add_regex(const pattern& x, other_pattern& out);
  std::uint32_t add_step(step_kind kind, std::size_t number = 0) {
    out_.steps_.push_back({kind, static_cast<std::uint32_t>(number)});
    return static_cast<std::uint32_t>(out_.steps_.size() - 1);
  }

  std::string_view text_;
  const condition_options& options_;
  condition_program& out_;
  error failure_;
};

/// What decides the answer of `&&` or `||` alone skips the rest.
void condition_compiler::emit(const expression& x) {
  if (x.kind == expression_kind::test)
    return emit_test(x.test);
  emit(x.members.front());
  if (x.kind == expression_kind::negation) {
    add_step(step_kind::negate);
    return;
  }
  const bool all = x.kind == expression_kind::conjunction;
  std::vector<std::uint32_t> jumps;
  for (std::size_t i = 1; i < x.members.size(); ++i) {
    jumps.push_back(add_step(all ? step_kind::jump_if_no : step_kind::jump_if_yes));
    emit(x.members[i]);
    add_step(all ? step_kind::both : step_kind::either);
  }
  for (const auto each : jumps)
    out_.steps_[each].number = static_cast<std::uint32_t>(out_.steps_.size());
}

void condition_compiler::emit_test(const comparison& x) {
  compiled_test test{.kind = x.kind,
                     .negated = x.negated,
                     .subject = x.subject.kind,
                     .part = x.subject.part,
                     .path = x.subject.path,
                     .keep = x.keep,
                     .of = std::max<std::uint32_t>(x.of, 1)};
  auto subject = kinds_of(x.subject);
  if (x.subject.kind == field_kind::column)
    subject = find_column(x, test);
  check_kinds(x, subject, test);
  for (const auto& each : x.patterns)
    add_pattern(each, test);
  std::ranges::sort(test.equals, sorts_before);
  if (x.subject.kind == field_kind::column)
    out_.named_[test.column].kinds = test.kinds;
  add_step(step_kind::test, out_.tests_.size());
  out_.tests_.push_back(std::move(test));
}

column_kinds condition_compiler::find_column(const comparison& x, compiled_test& test) {
  test.column = static_cast<std::uint32_t>(out_.named_.size());
  out_.named_.push_back({.name = x.subject.name,
                         .container = x.kind == comparison_kind::holds,
                         .typed = x.kind != comparison_kind::exists});
  const auto known = std::ranges::find(options_.columns, x.subject.name, &record_column::name);
  const bool found = known != options_.columns.end();
  out_.places_.push_back(found ? static_cast<column_place>(known - options_.columns.begin())
                               : no_place);
  if (!found && !options_.columns.empty())
    fail("there is no column `" + x.subject.name + "` among those given", x.subject.place);
  return found ? kinds_of_type(known->type) : column_kinds{};
}

void condition_compiler::check_kinds(const comparison& x, const column_kinds& subject,
                                     compiled_test& test) {
  if (x.kind == comparison_kind::exists)
    return;
  const bool wants_members = x.kind == comparison_kind::holds;
  if (subject.known && subject.container && !wants_members)
    return fail("this holds several values: ask with has", x.subject.place);
  if (subject.known && !subject.container && wants_members)
    return fail("this holds one value: ask with in", x.subject.place);
  for (const auto& each : x.patterns)
    check_pattern(x, each, subject, test);
}

void condition_compiler::check_pattern(const comparison& x, const pattern& each,
                                       const column_kinds& subject, compiled_test& test) {
  const auto kinds = conditions::kinds_of(each);
  if (is_order(x.kind) || each.kind == pattern_kind::range) {
    if ((kinds & ordered_kinds) == 0)
      return fail(name_of(kinds) + " is neither less nor greater than another one", each.place);
    if (each.kind == pattern_kind::range) {
      const auto first = scalar_of(each.first);
      const auto last = scalar_of(each.last);
      if (!first || !last || first->kind != last->kind)
        return fail("both ends of a range have one type", each.place);
      const auto how = compare(*first, *last);
      if (how == order::unordered || how == order::greater)
        return fail("a range begins with what is less, and nothing is in this one", each.place);
    }
  }
  if ((kinds & subject.kinds) == 0)
    return fail(to_text(x.subject) + " is " + name_of(subject.kinds) + ", and this is " +
                    (each.kind == pattern_kind::within ? "for an address or a subnet"
                                                       : "for " + name_of(kinds)),
                each.place);
  if ((test.kinds & kinds) == 0)
    return fail("the members of one set have one type: this is for " + name_of(kinds) +
                    ", those before it for " + name_of(test.kinds),
                each.place);
  test.kinds &= kinds;
  const auto literal = scalar_of(each.first);
  if (!is_order(x.kind) && each.kind == pattern_kind::equal && literal &&
      !can_equal(subject, *literal))
    fail(to_text(x.subject) + " holds whole numbers" + (subject.natural ? " from 0 on" : "") +
             ", and is never equal to this",
         each.place);
}

void condition_compiler::add_pattern(const pattern& x, compiled_test& test) {
  const auto literal = scalar_of(x.first);
  if (!literal || failure_)
    return;
  if (x.kind == pattern_kind::equal) {
    test.equals.push_back(*literal);
    return;
  }
  other_pattern made{.kind = x.kind,
                     .kinds = conditions::kinds_of(x),
                     .first = *literal,
                     .last = {},
                     .matcher = {}};
  if (x.kind == pattern_kind::range)
    made.last = *scalar_of(x.last);
  if (x.kind == pattern_kind::regex)
    add_regex(x, made);
  test.others.push_back(std::move(made));
}

void condition_compiler::add_regex(const pattern& x, other_pattern& out) {
  if (options_.regex == nullptr)
    return fail("regular expressions are not at hand here: they need the component regex of this "
                "library, and RE2",
                x.place, errc::not_supported);
  auto made = options_.regex(x.first.get<std::string>());
  if (!made)
    return fail("no regular expression: " + made.error().context(), x.place, made.error().code());
  out.matcher = std::move(*made);
}

expected<std::shared_ptr<const condition_program>>
condition_program::make(std::string_view text, const condition_options& options) {
  auto source = parse(text);
  if (!source)
    return source.error();
  const std::shared_ptr<condition_program> made{new condition_program};
  made->source_ = std::move(*source);
  made->text_ = to_text(made->source_);
  if (made->text_.size() > condition::max_text_bytes)
    return error{errc::limit_exceeded, "the condition is too long in its canonical spelling"};
  condition_compiler compiler{text, options, *made};
  if (auto done = compiler.run(); !done)
    return done.error();
  return std::shared_ptr<const condition_program>{made};
}

} // namespace pubsub
