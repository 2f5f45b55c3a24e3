// A condition as it is evaluated: a list of steps without recursion.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/condition.hpp>

#include "filter/encoded_record.hpp"
#include "filter/expression.hpp"
#include "filter/kinds.hpp"
#include "filter/scalar.hpp"

namespace pubsub {

namespace conditions {

/// A pattern other than equality. What it refers to belongs to the program.
struct other_pattern {
  pattern_kind kind = pattern_kind::range;
  kind_set kinds = 0;
  scalar first; ///< of a range; of a prefix its text; of a subnet its bytes
  scalar last;
  std::shared_ptr<const text_matcher> matcher;
};

/// A comparison that is ready to run.
struct compiled_test {
  comparison_kind kind = comparison_kind::exists;
  bool negated = false;
  field_kind subject = field_kind::whole;
  std::uint16_t part = 0;
  std::uint32_t column = 0;                 ///< number among the columns that are named
  std::span<const std::uint16_t> path = {}; ///< of a position
  kind_set kinds = any_kind;                ///< those that can be compared
  std::vector<scalar> equals = {};          ///< sorted
  std::vector<other_pattern> others = {};
  std::uint32_t keep = 0;
  std::uint32_t of = 1;
};

enum class step_kind : std::uint8_t { test, jump_if_no, jump_if_yes, both, either, negate };

struct step {
  step_kind kind = step_kind::test;
  std::uint32_t number = 0; ///< of the test, or of the step to go to
};

/// A column that a test names, as the test needs it.
struct named_column {
  std::string name;
  kind_set kinds = any_kind;
  bool container = false; ///< the test looks at members
  bool typed = false;     ///< the type matters at all

  /// Whether a column of this type is one that the test can use.
  bool accepts(std::string_view type) const noexcept;
};

/// Where a named column is in the record; `no_place` where that is not known.
using column_place = std::uint32_t;
inline constexpr column_place no_place = ~column_place{0};

} // namespace conditions

/// Immutable, shared by all copies of a condition.
class condition_program {
public:
  /// As `condition::make`.
  static expected<std::shared_ptr<const condition_program>> make(std::string_view text,
                                                                 const condition_options& options);
  condition_program(const condition_program&) = delete;
  condition_program& operator=(const condition_program&) = delete;

  const std::string& text() const noexcept { return text_; }
  if_unknown unknown() const noexcept { return unknown_; }
  const std::vector<record_column>& columns() const noexcept { return columns_; }
  /// One for each test that names a column.
  std::span<const conditions::named_column> named() const noexcept { return named_; }
  /// Where they are in the columns given; nowhere if there are none.
  std::span<const conditions::column_place> given_places() const noexcept { return places_; }

  /// The condition as its text says it, and its comparisons in the order of the text.
  const conditions::expression& source() const noexcept { return source_; }
  std::span<const conditions::compiled_test> tests() const noexcept { return tests_; }

  /// `places` has one for each of `named`.
  condition_verdict judge(std::string_view topic, conditions::encoded_record& record,
                          std::span<const conditions::column_place> places) const noexcept;

private:
  friend class condition_compiler;
  condition_program() = default;

  conditions::expression source_; // scalars refer to its literals
  std::string text_;
  if_unknown unknown_ = if_unknown::no;
  std::vector<record_column> columns_;
  std::vector<conditions::named_column> named_;
  std::vector<conditions::column_place> places_;
  std::vector<conditions::compiled_test> tests_;
  std::vector<conditions::step> steps_;
};

} // namespace pubsub
