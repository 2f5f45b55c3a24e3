// A condition as its text says it: a tree of comparisons.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/data.hpp>

namespace pubsub::conditions {

/// A part of the text, for errors.
struct text_place {
  std::size_t first = 0;
  std::size_t size = 0;
};

/// What is compared. `column`: a column of a record by its name. `position`: a member of the record
/// or, with more than one number, a member of that. `whole`: the value of the message.
enum class field_kind : std::uint8_t {
  column,
  position,
  whole,
  event_name,
  topic_name,
  topic_part,
  size_bytes,
};

struct field {
  field_kind kind = field_kind::whole;
  std::string name;                ///< of a column
  std::vector<std::uint16_t> path; ///< of a position, at least one number
  std::uint16_t part = 0;          ///< of a topic, counted from 0
  text_place place;
};

/// What a value is compared with: it is equal to, lies in, begins with, or matches.
enum class pattern_kind : std::uint8_t { equal, range, within, prefix, regex };

struct pattern {
  pattern_kind kind = pattern_kind::equal;
  data first; ///< a literal; the text of a prefix or an expression
  data last;  ///< of a range
  text_place place;
};

/// `among`: the field is one of the patterns. `holds`: the field is a set, a vector or a table, and
/// one of its members or keys is. `sample`: a hash of the field lies among `keep` in `of`.
enum class comparison_kind : std::uint8_t {
  equal,
  less,
  less_equal,
  greater,
  greater_equal,
  among,
  holds,
  exists,
  sample,
};

struct comparison {
  comparison_kind kind = comparison_kind::exists;
  bool negated = false; ///< `!=`
  field subject;
  std::vector<pattern> patterns; ///< one, unless `among` or `holds`
  std::uint32_t keep = 0;        ///< of a sample
  std::uint32_t of = 0;
};

enum class expression_kind : std::uint8_t { test, negation, conjunction, disjunction };

struct expression {
  expression_kind kind = expression_kind::test;
  comparison test = {};                 ///< if it is one
  std::vector<expression> members = {}; ///< one of a negation; two or more of the others
};

} // namespace pubsub::conditions
