// Many conditions on the messages of a topic, decided at once.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/condition.hpp>

#include "filter/encoded_record.hpp"
#include "filter/literal_index.hpp"
#include "filter/log_columns.hpp"

namespace pubsub {

/// Says for a message which of its conditions a subscriber may want it for. Conditions that compare
/// one field, alone or as one operand of `&&`, with values or subnets are found by the value of the
/// field; the others are evaluated one by one. What cannot be decided here is wanted: the
/// subscriber decides it. All evaluations of one message share one budget. Not thread-safe.
class condition_set {
public:
  /// Values that are looked at or passed over for one message, as `condition::max_steps`.
  static constexpr std::size_t max_steps = 16'384;

  using condition_ptr = std::shared_ptr<const condition>;

  explicit condition_set(std::vector<condition_ptr> all);

  std::size_t size() const noexcept { return all_.size(); }
  /// Conditions that are evaluated for every message.
  std::size_t evaluated() const noexcept { return others_.size(); }

  /// A bit for each condition, 64 of them in a word, or nothing if none of them wants the message;
  /// valid until the next call. The value is unchecked bin::v1. `columns` are learnt from messages
  /// that announce some, which all conditions want that name columns.
  std::span<const std::uint64_t> wanting(std::string_view topic, std::span<const std::byte> value,
                                         conditions::log_columns& columns);

private:
  /// The conditions that compare this field with literals.
  struct compared_field {
    conditions::field_kind kind;
    conditions::named_column column;    ///< if it is one
    std::vector<std::uint16_t> path;    ///< of a position
    std::uint32_t place = 0;            ///< of a column among those that are named
    conditions::literal_index literals; ///< by their values
    std::vector<std::uint32_t> members; ///< all of them
  };
  struct entry {
    condition_ptr what;
    std::size_t first_place = 0; ///< of what it names
    bool whole = false;          ///< nothing but the comparison by which it is found
  };
  struct places_in_log {
    std::uint64_t version = 0;
    std::vector<conditions::column_place> places;
  };

  bool index(std::uint32_t number);
  compared_field& field_of(const conditions::compiled_test& test, const condition_program& from);
  std::span<const conditions::column_place> places_of(std::string_view topic,
                                                      conditions::encoded_record& record,
                                                      conditions::log_columns& columns);
  void look_up(compared_field& where, std::string_view topic, conditions::encoded_record& record,
               std::span<const conditions::column_place> places);
  void evaluate(std::uint32_t number, std::string_view topic, conditions::encoded_record& record,
                std::span<const conditions::column_place> places);
  void set(std::uint32_t number) noexcept {
    wanting_[number / 64] |= std::uint64_t{1} << (number % 64);
    any_ = true;
  }
  void set_all(std::span<const std::uint32_t> numbers) noexcept {
    for (const auto each : numbers)
      set(each);
  }

  std::vector<entry> all_;
  std::vector<compared_field> fields_;
  std::vector<std::uint32_t> others_; // evaluated one by one
  std::vector<conditions::column_place> nowhere_;
  // Conditions that name columns, those that name none, and of the first those that learn where
  // the columns are.
  std::vector<std::uint32_t> naming_, not_naming_, learning_;
  std::vector<places_in_log> places_; // by the number of the log
  std::vector<std::uint64_t> wanting_;
  conditions::record_shape last_shape_; // most messages of a topic begin alike
  bool any_ = false;                    // bit in wanting_ is set
};

} // namespace pubsub
