// SPDX-License-Identifier: BSD-3-Clause
#include "filter/condition_set.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace pubsub {

using namespace conditions;

namespace {

std::size_t tests_in(const expression& x) noexcept {
  if (x.kind == expression_kind::test)
    return 1;
  std::size_t result = 0;
  for (const auto& each : x.members)
    result += tests_in(each);
  return result;
}

/// Whether the value of the field decides it by being looked up.
bool is_found_by_value(const compiled_test& test) noexcept {
  const auto is_subnet = [](const other_pattern& x) { return x.kind == pattern_kind::within; };
  return (test.kind == comparison_kind::equal || test.kind == comparison_kind::among) &&
         !test.negated &&
         (test.subject == field_kind::column || test.subject == field_kind::position) &&
         std::ranges::all_of(test.others, is_subnet);
}

/// The number of a comparison that has to be true, and can be looked up.
std::optional<std::size_t> necessary_test(const condition_program& of) noexcept {
  const auto& source = of.source();
  if (source.kind == expression_kind::test)
    return is_found_by_value(of.tests().front()) ? std::optional<std::size_t>{0} : std::nullopt;
  if (source.kind != expression_kind::conjunction)
    return {};
  std::size_t number = 0;
  for (const auto& each : source.members) {
    if (each.kind == expression_kind::test && is_found_by_value(of.tests()[number]))
      return number;
    number += tests_in(each);
  }
  return {};
}

bool passes(condition_verdict x) noexcept {
  return x == condition_verdict::yes || x == condition_verdict::unknown ||
         x == condition_verdict::unreadable;
}

} // namespace

condition_set::condition_set(std::vector<condition_ptr> all) : wanting_((all.size() + 63) / 64) {
  for (auto& each : all) {
    const auto& program = each->program();
    const auto number = static_cast<std::uint32_t>(all_.size());
    all_.push_back({std::move(each), nowhere_.size(), false});
    (program.named().empty() ? not_naming_ : naming_).push_back(number);
    if (!program.named().empty() && program.columns().empty())
      learning_.push_back(number);
    nowhere_.insert(nowhere_.end(), program.given_places().begin(), program.given_places().end());
    if (!index(number))
      others_.push_back(number);
  }
}

/// What is not there makes a conjunction unknown where another column is: who takes what is unknown
/// has to be asked about everything.
bool condition_set::index(std::uint32_t number) {
  auto& at = all_[number];
  const auto& program = at.what->program();
  const auto test = necessary_test(program);
  at.whole = program.tests().size() == 1;
  if (!test || (!at.whole && at.what->unknown() == if_unknown::yes))
    return false;
  auto& field = field_of(program.tests()[*test], program);
  field.literals.add(program.tests()[*test], number);
  field.members.push_back(number);
  if (field.kind == field_kind::column && field.members.size() == 1)
    field.place = static_cast<std::uint32_t>(at.first_place + program.tests()[*test].column);
  return true;
}

/// A column that is given is a position.
condition_set::compared_field& condition_set::field_of(const compiled_test& test,
                                                       const condition_program& from) {
  compared_field wanted{
      .kind = test.subject, .column = {}, .path = {}, .literals = {}, .members = {}};
  if (test.subject == field_kind::position)
    wanted.path = {test.path.begin(), test.path.end()};
  else if (const auto given = from.given_places()[test.column]; given != no_place) {
    wanted.kind = field_kind::position;
    wanted.path = {static_cast<std::uint16_t>(given)};
  } else
    wanted.column = from.named()[test.column];
  const auto known = std::ranges::find_if(fields_, [&](const compared_field& x) {
    return x.kind == wanted.kind && x.path == wanted.path && x.column.name == wanted.column.name &&
           x.column.kinds == wanted.column.kinds;
  });
  return known != fields_.end() ? *known : fields_.emplace_back(std::move(wanted));
}

/// Most messages are wanted by none.
std::span<const std::uint64_t> condition_set::wanting(std::string_view topic,
                                                      std::span<const std::byte> value,
                                                      log_columns& columns) {
  if (std::exchange(any_, false))
    std::ranges::fill(wanting_, 0);
  encoded_record record{value, max_steps, &last_shape_};
  if (!naming_.empty() && !record.is_shaped_as_before() && columns.learn(topic, record)) {
    set_all(naming_);
    for (const auto each : not_naming_)
      evaluate(each, topic, record, nowhere_);
    return wanting_;
  }
  const auto places = learning_.empty() ? std::span<const column_place>{nowhere_}
                                        : places_of(topic, record, columns);
  for (auto& each : fields_)
    look_up(each, topic, record, places);
  for (const auto each : others_)
    evaluate(each, topic, record, places);
  return any_ ? std::span<const std::uint64_t>{wanting_} : std::span<const std::uint64_t>{};
}

/// Those that are given hold in every log.
std::span<const column_place>
condition_set::places_of(std::string_view topic, encoded_record& record, log_columns& columns) {
  const auto* const log = columns.find(topic, record);
  if (log == nullptr)
    return nowhere_;
  const auto number = columns.number_of(*log);
  if (number >= places_.size())
    places_.resize(number + 1);
  auto& known = places_[number];
  if (known.version == log->version)
    return known.places;
  known = {log->version, nowhere_};
  for (const auto each : learning_) {
    const auto& at = all_[each];
    std::ranges::copy(places_in(log->columns, at.what->program().named()),
                      known.places.begin() + static_cast<std::ptrdiff_t>(at.first_place));
  }
  return known.places;
}

inline void condition_set::look_up(compared_field& where, std::string_view topic,
                                   encoded_record& record, std::span<const column_place> places) {
  const std::byte* at = nullptr;
  auto there = look::unknown;
  if (where.kind == field_kind::position)
    there = record.member(where.path, at);
  else if (const auto place = places[where.place]; place != no_place)
    there = record.member(place, at);
  scalar value;
  if (there == look::yes)
    there = record.load(at, value);
  if (there == look::absent)
    return;
  if (there != look::yes)
    return set_all(where.members);
  where.literals.visit(value, [&](std::uint32_t number) {
    if (all_[number].whole)
      set(number);
    else
      evaluate(number, topic, record, places);
  });
}

void condition_set::evaluate(std::uint32_t number, std::string_view topic, encoded_record& record,
                             std::span<const column_place> places) {
  const auto& at = all_[number];
  const auto& program = at.what->program();
  if (passes(program.judge(topic, record, places.subspan(at.first_place, program.named().size()))))
    set(number);
}

} // namespace pubsub
