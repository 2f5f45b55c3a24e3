// Conditions on the content of messages: which of the messages of its topics a subscriber gets.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

class condition_program;

/// What a message answers to a condition, or to a part of one (docs/reference/conditions.md). Only
/// `yes` fulfils it.
enum class condition_verdict : std::uint8_t {
  no,
  yes,
  absent,     ///< a value that is compared is not there: unset, out of range, of another type
  unknown,    ///< a column that is named has not been announced, or the budget of steps is used up
  unreadable, ///< the bytes that were looked at are no value in bin::v1
};

/// The name of the enumerator, e.g. `absent`.
PUBSUB_EXPORT std::string_view to_string(condition_verdict x) noexcept;

/// What a subscriber makes of a message whose answer is `unknown`.
enum class if_unknown : std::uint8_t { no, yes };

/// A column of records: its name and its type as Zeek writes it, e.g. `id.resp_p` and `port`. An
/// empty type, or one that is not known, is not checked.
struct record_column {
  std::string name;
  std::string type;
  friend bool operator==(const record_column&, const record_column&) = default;
};

/// Finds a regular expression in text. Const members may be called concurrently.
class text_matcher {
public:
  virtual ~text_matcher() = default;
  /// Whether the expression matches somewhere in `text`.
  virtual bool matches(std::string_view text) const noexcept = 0;
};

/// Makes a matcher of an expression. Errors: invalid_argument; the context says what is wrong.
using text_matcher_maker = expected<std::shared_ptr<const text_matcher>> (*)(std::string_view);

/// How the text of a condition is to be read.
struct condition_options {
  if_unknown unknown = if_unknown::no;
  /// The columns of the records, in their order. Without any they are those that the event
  /// `log_fields` announces on the topic of the records; a subscriber learns them as they come.
  std::vector<record_column> columns = {};
  /// Of the component pubsub::regex: `&make_re2_matcher`. Without it a condition with a regular
  /// expression is refused.
  text_matcher_maker regex = nullptr;
};

/// An immutable condition, compiled once; copies share it. Its text in one canonical spelling says
/// all of it: equal conditions have equal texts. It is evaluated on encoded bytes, without building
/// a tree and without allocating.
class PUBSUB_EXPORT condition {
public:
  /// Longest text that is taken.
  static constexpr std::size_t max_text_bytes = 64 * 1024;
  /// Negations, `&&` and `||` within each other, and the parts of a position.
  static constexpr std::size_t max_depth = 32;
  /// Comparisons in one condition.
  static constexpr std::size_t max_comparisons = 1024;
  /// Values of one message that are looked at or passed over, and ranges, prefixes, subnets and
  /// expressions that they are compared with, before the answer is `unknown`.
  static constexpr std::size_t max_steps = 65'536;

  /// Reads a condition, e.g. `id.resp_p == 443/tcp && orig_bytes > 1000`. Errors: invalid_argument
  /// (what is no condition, or compares what cannot be equal), limit_exceeded, not_supported (a
  /// regular expression without `condition_options::regex`). The context is a sentence, the line
  /// at fault, and a line with a caret below the place.
  static expected<condition> make(std::string_view text, const condition_options& options = {});

  /// The canonical text, of which `make` makes an equal condition.
  const std::string& text() const noexcept;
  if_unknown unknown() const noexcept;
  /// As given in the options.
  const std::vector<record_column>& columns() const noexcept;

  /// The answer of a message with this topic and this value in bin::v1, of which nothing needs to
  /// have been checked. Columns that are announced are not known here.
  condition_verdict judge(std::string_view topic, std::span<const std::byte> value) const noexcept;
  /// Whether that answer lets a subscriber have the message: `yes`, or `unknown` where
  /// the options say so. What is unreadable passes too, so that the subscriber counts it as such.
  bool passes(condition_verdict answer) const noexcept {
    return answer == condition_verdict::yes || answer == condition_verdict::unreadable ||
           (answer == condition_verdict::unknown && unknown() == if_unknown::yes);
  }

  /// For the library itself.
  const condition_program& program() const noexcept { return *program_; }

  friend bool operator==(const condition& x, const condition& y) noexcept {
    return x.program_ == y.program_ ||
           (x.text() == y.text() && x.unknown() == y.unknown() && x.columns() == y.columns());
  }

private:
  explicit condition(std::shared_ptr<const condition_program> program) noexcept
      : program_(std::move(program)) {}

  std::shared_ptr<const condition_program> program_;
};

} // namespace pubsub
