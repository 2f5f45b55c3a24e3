// SPDX-License-Identifier: BSD-3-Clause
#include "filter/parser.hpp"

#include <algorithm>

#include <pubsub/condition.hpp>

#include "filter/literal.hpp"

namespace pubsub::conditions {

namespace {

constexpr std::uint32_t max_position = 65'535;

/// What `(a && b) && c` means is what `a && b && c` does.
void add_flat(expression& to, expression x) {
  if (x.kind != to.kind)
    return to.members.push_back(std::move(x));
  std::ranges::move(x.members, std::back_inserter(to.members));
}

expression negation_of(expression x) {
  if (x.kind == expression_kind::negation)
    return std::move(x.members.front());
  if (x.kind == expression_kind::test && x.test.kind == comparison_kind::equal) {
    x.test.negated = !x.test.negated;
    return x;
  }
  expression result{.kind = expression_kind::negation};
  result.members.push_back(std::move(x));
  return result;
}

void sort_patterns(std::vector<pattern>& all) {
  const auto before = [](const auto& x, const auto& y) { return x.first < y.first; };
  std::vector<std::pair<std::string, pattern>> keyed;
  keyed.reserve(all.size());
  for (auto& each : all)
    keyed.emplace_back(to_text(each), std::move(each));
  std::ranges::sort(keyed, before);
  all.clear();
  for (std::size_t i = 0; i < keyed.size(); ++i)
    if (i == 0 || keyed[i].first != keyed[i - 1].first)
      all.push_back(std::move(keyed[i].second));
}

std::size_t depth_of(const expression& x) {
  std::size_t deepest = 0;
  for (const auto& each : x.members)
    deepest = std::max(deepest, depth_of(each));
  return deepest + 1;
}

/// Recursive descent; each level of parentheses and negations is a level of calls, and counted.
class parser {
public:
  explicit parser(std::string_view text) noexcept : in_(text) {}

  expected<expression> run() {
    expression result;
    if (disjunction(result)) {
      in_.skip_blanks();
      if (in_.at_end())
        return result;
      in_.fail("&&, || or the end is expected here");
    }
    return in_.failure();
  }

private:
  bool disjunction(expression& out) {
    return chain(out, expression_kind::disjunction, "||", "or", &parser::conjunction);
  }
  bool conjunction(expression& out) {
    return chain(out, expression_kind::conjunction, "&&", "and", &parser::operand);
  }
  bool chain(expression& out, expression_kind kind, std::string_view sign, std::string_view word,
             bool (parser::*part)(expression&));
  bool operand(expression& out);
  bool nested(expression& out);
  bool enter();
  bool test(comparison& out);
  bool subject(field& out);
  bool property(field& out);
  bool position(field& out);
  bool number(std::uint32_t most, std::uint32_t& out);
  bool relation(comparison& out, bool& negated);
  bool literal(comparison& out, comparison_kind kind);
  bool patterns(comparison& out, comparison_kind kind);
  bool one_pattern(pattern& out);
  bool text_pattern(pattern& out);
  bool sample(comparison& out);

  text_cursor in_;
  std::size_t depth_ = 0;
  std::size_t comparisons_ = 0;
};

bool parser::chain(expression& out, expression_kind kind, std::string_view sign,
                   std::string_view word, bool (parser::*part)(expression&)) {
  if (!(this->*part)(out))
    return false;
  bool more = false;
  while (in_.take(sign) || in_.take_word(word)) {
    if (!more) {
      expression all{.kind = kind};
      add_flat(all, std::move(out));
      out = std::move(all);
      more = true;
    }
    expression next;
    if (!(this->*part)(next))
      return false;
    add_flat(out, std::move(next));
  }
  return true;
}

/// A guard for the stack. The canonical text takes two signs for a level of the tree.
bool parser::enter() {
  if (++depth_ <= 2 * condition::max_depth)
    return true;
  return in_.fail("too many parentheses and negations within each other", {in_.position(), 1},
                  errc::limit_exceeded);
}

bool parser::operand(expression& out) {
  const bool negated = in_.take("!") || in_.take_word("not");
  if (negated) {
    if (!enter() || !operand(out))
      return false;
    --depth_;
    out = negation_of(std::move(out));
    return true;
  }
  if (in_.take("("))
    return nested(out);
  out.kind = expression_kind::test;
  if (!test(out.test))
    return false;
  if (++comparisons_ > condition::max_comparisons)
    return in_.fail("more than " + std::to_string(condition::max_comparisons) + " comparisons",
                    out.test.subject.place, errc::limit_exceeded);
  if (out.test.negated && out.test.kind != comparison_kind::equal) { // `not in`
    out.test.negated = false;
    out = negation_of(std::move(out));
  }
  return true;
}

bool parser::nested(expression& out) {
  const auto first = in_.position() - 1;
  if (!enter() || !disjunction(out))
    return false;
  --depth_;
  if (in_.take(")"))
    return true;
  in_.skip_blanks();
  return in_.at_end() ? in_.fail("the parenthesis is not closed", {first, 1})
                      : in_.fail("&&, || or a closing parenthesis is expected here");
}

bool parser::test(comparison& out) {
  if (in_.take_word("exists")) {
    out.kind = comparison_kind::exists;
    if (!in_.take("("))
      return in_.fail("a field in parentheses is expected, as in exists(service)");
    if (!subject(out.subject))
      return false;
    return in_.take(")") || in_.fail("a closing parenthesis is expected here");
  }
  in_.skip_blanks();
  if (is_digit(in_.peek()))
    return sample(out);
  return subject(out.subject) && relation(out, out.negated);
}

bool parser::subject(field& out) {
  in_.skip_blanks();
  const auto first = in_.position();
  bool read = false;
  if (in_.take("$"))
    read = position(out);
  else if (in_.take("@"))
    read = property(out);
  else if (is_letter(in_.peek()) || in_.peek() == '`') {
    out.kind = field_kind::column;
    read = read_name(in_, out.name);
  } else
    return in_.fail("a field is expected here: the name of a column, $0 for a position, @event, "
                    "@topic, @topic.0 or @size");
  out.place = {first, in_.position() - first};
  return read;
}

bool parser::property(field& out) {
  const auto first = in_.position() - 1;
  if (in_.take_word("event"))
    out.kind = field_kind::event_name;
  else if (in_.take_word("size"))
    out.kind = field_kind::size_bytes;
  else if (in_.take_word("topic")) {
    out.kind = field_kind::topic_name;
    if (in_.peek() != '.' || !is_digit(in_.peek(1)))
      return true;
    in_.advance();
    out.kind = field_kind::topic_part;
    std::uint32_t part = 0;
    if (!number(max_position, part))
      return false;
    out.part = static_cast<std::uint16_t>(part);
  } else
    return in_.fail("of a message there are @event, @topic, @topic.0 and so on, and @size",
                    {first, 1});
  return true;
}

bool parser::position(field& out) {
  out.kind = field_kind::whole;
  while (is_digit(in_.peek())) {
    std::uint32_t place = 0;
    if (!number(max_position, place))
      return false;
    out.kind = field_kind::position;
    out.path.push_back(static_cast<std::uint16_t>(place));
    if (out.path.size() > condition::max_depth)
      return in_.fail("a position has too many parts", {in_.position() - 1, 1},
                      errc::limit_exceeded);
    if (in_.peek() != '.' || !is_digit(in_.peek(1)))
      break;
    in_.advance();
  }
  return true;
}

/// Digits only, which the cursor is at.
bool parser::number(std::uint32_t most, std::uint32_t& out) {
  const auto first = in_.position();
  std::uint64_t value = 0;
  for (; is_digit(in_.peek()); in_.advance())
    value = std::min<std::uint64_t>(10 * value + static_cast<std::uint64_t>(in_.peek() - '0'),
                                    std::uint64_t{1} << 40U);
  if (value > most)
    return in_.fail("this number is too large: at most " + std::to_string(most),
                    {first, in_.position() - first});
  out = static_cast<std::uint32_t>(value);
  return true;
}

bool parser::relation(comparison& out, bool& negated) {
  if (in_.take("=="))
    return literal(out, comparison_kind::equal);
  if (in_.take("!=")) {
    negated = true;
    return literal(out, comparison_kind::equal);
  }
  if (in_.take("<="))
    return literal(out, comparison_kind::less_equal);
  if (in_.take("<"))
    return literal(out, comparison_kind::less);
  if (in_.take(">="))
    return literal(out, comparison_kind::greater_equal);
  if (in_.take(">"))
    return literal(out, comparison_kind::greater);
  negated = in_.take_word("not");
  if (in_.take_word("in"))
    return patterns(out, comparison_kind::among);
  if (in_.take_word("has"))
    return patterns(out, comparison_kind::holds);
  if (in_.take("="))
    return in_.fail("equality is written ==", {in_.position() - 1, 1});
  return in_.fail("==, !=, <, <=, >, >=, in, not in or has is expected here");
}

bool parser::literal(comparison& out, comparison_kind kind) {
  out.kind = kind;
  auto& only = out.patterns.emplace_back();
  return read_literal(in_, only.first, only.place);
}

bool parser::patterns(comparison& out, comparison_kind kind) {
  out.kind = kind;
  const bool several = in_.take("{");
  do {
    if (!one_pattern(out.patterns.emplace_back()))
      return false;
  } while (several && in_.take(","));
  if (several && !in_.take("}"))
    return in_.fail("a comma or a closing brace is expected here");
  sort_patterns(out.patterns);
  if (kind == comparison_kind::among && out.patterns.size() == 1 &&
      out.patterns.front().kind == pattern_kind::equal)
    out.kind = comparison_kind::equal;
  return true;
}

bool parser::one_pattern(pattern& out) {
  in_.skip_blanks();
  const auto first = in_.position();
  if (in_.peek() == '"' || in_.peek() == '/')
    return text_pattern(out);
  if (!read_literal(in_, out.first, out.place))
    return false;
  if (in_.take("..")) {
    out.kind = pattern_kind::range;
    if (!read_literal(in_, out.last, out.place))
      return false;
    out.place = {first, in_.position() - first};
  } else if (out.first.is<subnet>())
    out.kind = pattern_kind::within;
  return true;
}

/// A text, the beginning of texts, a range of texts, or a regular expression.
bool parser::text_pattern(pattern& out) {
  const auto first = in_.position();
  std::string text;
  const bool regular = in_.peek() == '/';
  if (!(regular ? read_expression(in_, text) : read_quoted(in_, '"', text)))
    return false;
  out.first = std::move(text);
  if (regular)
    out.kind = pattern_kind::regex;
  else if (in_.peek() == '*') {
    in_.advance();
    out.kind = pattern_kind::prefix;
  } else if (in_.take("..")) {
    out.kind = pattern_kind::range;
    if (!read_literal(in_, out.last, out.place))
      return false;
  }
  out.place = {first, in_.position() - first};
  return true;
}

bool parser::sample(comparison& out) {
  constexpr auto most = std::uint32_t{1'000'000'000};
  const auto first = in_.position();
  out.kind = comparison_kind::sample;
  if (!number(most, out.keep))
    return false;
  if (!in_.take_word("in"))
    return in_.fail("only a sample begins with a number, as in 1 in 1000 by uid", {first, 1});
  in_.skip_blanks();
  if (!is_digit(in_.peek()))
    return in_.fail("a number is expected here, as in 1 in 1000 by uid");
  if (!number(most, out.of))
    return false;
  out.subject.place = {first, in_.position() - first};
  if (out.keep == 0 || out.keep > out.of)
    return in_.fail("a sample is at least 1, and no more than all", out.subject.place);
  if (!in_.take_word("by"))
    return true; // of whole values
  return subject(out.subject);
}

} // namespace

expected<expression> parse(std::string_view text) {
  if (text.size() > condition::max_text_bytes)
    return error{errc::limit_exceeded, "a condition has at most " +
                                           std::to_string(condition::max_text_bytes) +
                                           " bytes of text"};
  auto result = parser{text}.run();
  if (result && depth_of(*result) > condition::max_depth)
    return error{errc::limit_exceeded, "more than " + std::to_string(condition::max_depth) +
                                           " negations, && and || within each other"};
  return result;
}

} // namespace pubsub::conditions
