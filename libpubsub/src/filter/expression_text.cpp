// The canonical text of an expression.
// SPDX-License-Identifier: BSD-3-Clause
#include "filter/literal.hpp"
#include "filter/parser.hpp"

namespace pubsub::conditions {

namespace {

std::string_view sign_of(const comparison& x) noexcept {
  switch (x.kind) {
  case comparison_kind::equal:
    return x.negated ? " != " : " == ";
  case comparison_kind::less:
    return " < ";
  case comparison_kind::less_equal:
    return " <= ";
  case comparison_kind::greater:
    return " > ";
  case comparison_kind::greater_equal:
    return " >= ";
  case comparison_kind::among:
    return " in ";
  case comparison_kind::holds:
    return " has ";
  case comparison_kind::exists:
  case comparison_kind::sample:
    break;
  }
  return " ";
}

void append_patterns(std::string& out, const std::vector<pattern>& all) {
  if (all.size() == 1) {
    out += to_text(all.front());
    return;
  }
  const char* separator = "{";
  for (const auto& each : all) {
    out += separator;
    out += to_text(each);
    separator = ", ";
  }
  out += '}';
}

void append_test(std::string& out, const comparison& x) {
  if (x.kind == comparison_kind::exists) {
    out += "exists(" + to_text(x.subject) + ")";
    return;
  }
  if (x.kind != comparison_kind::sample) {
    out += to_text(x.subject);
    out += sign_of(x);
    return append_patterns(out, x.patterns);
  }
  out += std::to_string(x.keep) + " in " + std::to_string(x.of);
  if (x.subject.kind != field_kind::whole)
    out += " by " + to_text(x.subject);
}

void append_expression_text(std::string& out, const expression& x);

/// A disjunction in a conjunction needs parentheses.
void append_member(std::string& out, const expression& x, expression_kind within) {
  const bool parentheses =
      within == expression_kind::conjunction && x.kind == expression_kind::disjunction;
  out += parentheses ? "(" : "";
  append_expression_text(out, x);
  out += parentheses ? ")" : "";
}

void append_expression_text(std::string& out, const expression& x) {
  if (x.kind == expression_kind::test)
    return append_test(out, x.test);
  if (x.kind == expression_kind::negation) {
    const auto& inner = x.members.front();
    const bool bare =
        inner.kind == expression_kind::test && inner.test.kind == comparison_kind::exists;
    out += bare ? "!" : "!(";
    append_expression_text(out, inner);
    out += bare ? "" : ")";
    return;
  }
  const char* separator = "";
  for (const auto& each : x.members) {
    out += separator;
    append_member(out, each, x.kind);
    separator = x.kind == expression_kind::conjunction ? " && " : " || ";
  }
}

} // namespace

std::string to_text(const field& x) {
  std::string out;
  switch (x.kind) {
  case field_kind::column:
    append_name(out, x.name);
    return out;
  case field_kind::position: {
    const char* separator = "$";
    for (const auto each : x.path) {
      out += separator + std::to_string(each);
      separator = ".";
    }
    return out;
  }
  case field_kind::whole:
    return "$";
  case field_kind::event_name:
    return "@event";
  case field_kind::topic_name:
    return "@topic";
  case field_kind::topic_part:
    return "@topic." + std::to_string(x.part);
  case field_kind::size_bytes:
    return "@size";
  }
  return out;
}

std::string to_text(const pattern& x) {
  std::string out;
  if (x.kind == pattern_kind::regex)
    append_expression(out, x.first.get<std::string>());
  else
    append_literal(out, x.first);
  if (x.kind == pattern_kind::prefix)
    out += '*';
  if (x.kind == pattern_kind::range) {
    out += "..";
    append_literal(out, x.last);
  }
  return out;
}

std::string to_text(const expression& x) {
  std::string out;
  append_expression_text(out, x);
  return out;
}

} // namespace pubsub::conditions
