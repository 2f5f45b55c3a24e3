// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/message_fields.hpp>

#include "filter/log_columns.hpp"
#include "filter/program.hpp"

#include <unordered_map>
#include <utility>

namespace pubsub {

using namespace conditions;

struct message_fields::state {
  /// The program stays, so that its address does.
  struct question {
    condition what;
    places_by_log places;
  };

  std::span<const column_place> places_of(const condition& what, const log_columns::log& log) {
    auto& asked =
        questions.try_emplace(&what.program(), question{what, {}}).first->second; // what is new
    return asked.places.of(columns, log, what.program().named());
  }

  log_columns columns;
  std::unordered_map<const condition_program*, question> questions;
};

namespace {

bool is_in_messages(const compiled_test& test) {
  return test.subject == field_kind::column || test.subject == field_kind::position ||
         test.subject == field_kind::whole;
}

/// Whether the record is of a log, so that its columns could be announced.
look is_of_log(encoded_record& record) {
  std::string_view event;
  const auto there = record.event_name(event);
  if (there != look::yes)
    return there;
  return event.starts_with(log_event_prefix) ? look::yes : look::no;
}

} // namespace

// -- message_field -------------------------------------------------------------------------------

/// A field is what `exists` can be asked about; the place in the text is that of the field.
expected<message_field> message_field::make(std::string_view text,
                                            std::vector<record_column> columns) {
  constexpr std::string_view before = "exists(";
  condition_options options;
  options.columns = std::move(columns);
  auto exists = condition::make(std::string{before} + std::string{text} + ")", options);
  if (!exists)
    return error{exists.error().code(),
                 "'" + std::string{text} + "' is no field: " + exists.error().context()};
  const auto tests = exists->program().tests();
  const auto& whole = exists->text();
  if (tests.size() != 1 || tests.front().kind != comparison_kind::exists ||
      !whole.starts_with(before) || !is_in_messages(tests.front()))
    return error{errc::invalid_argument, "'" + std::string{text} +
                                             "' is no field in a message: a column, a position "
                                             "such as $0, or $"};
  auto name = whole.substr(before.size(), whole.size() - before.size() - 1);
  return message_field{std::move(*exists), std::move(name)};
}

// -- message_fields ------------------------------------------------------------------------------

message_fields::message_fields() : state_(std::make_unique<state>()) {}
message_fields::message_fields(message_fields&&) noexcept = default;
message_fields& message_fields::operator=(message_fields&&) noexcept = default;
message_fields::~message_fields() = default;

bool message_fields::learn(std::string_view topic, std::span<const std::byte> value) {
  encoded_record record{value};
  return state_->columns.learn(topic, record);
}

condition_verdict message_fields::judge(const condition& what, std::string_view topic,
                                        std::span<const std::byte> value) {
  const auto& program = what.program();
  encoded_record record{value};
  auto places = program.given_places();
  if (!program.named().empty() && program.columns().empty())
    if (const auto* const log = state_->columns.find(topic, record))
      places = state_->places_of(what, *log);
  return program.judge(topic, record, places);
}

condition_verdict message_fields::find(const message_field& which, std::string_view topic,
                                       std::span<const std::byte> value,
                                       std::span<const std::byte>& out) {
  const auto& program = which.exists_.program();
  const auto& test = program.tests().front();
  encoded_record record{value};
  const std::byte* at = nullptr;
  auto there = look::absent;
  if (test.subject == field_kind::whole) {
    there = record.whole(at);
  } else if (test.subject == field_kind::position) {
    there = record.member(test.path, at);
  } else {
    auto place = program.given_places()[test.column];
    if (program.columns().empty()) {
      const auto* const log = state_->columns.find(topic, record);
      if (log == nullptr) {
        const auto of_log = is_of_log(record);
        return of_log == look::yes ? look::unknown : of_log == look::no ? look::absent : of_log;
      }
      place = state_->places_of(which.exists_, *log)[test.column];
    }
    there = place == no_place ? look::absent : record.member(place, at);
  }
  if (there != look::yes)
    return there;
  const auto* end = at;
  there = record.skip(end);
  if (there == look::yes)
    out = {at, end};
  return there;
}

void message_fields::forget_questions() noexcept {
  state_->questions.clear();
}

} // namespace pubsub
