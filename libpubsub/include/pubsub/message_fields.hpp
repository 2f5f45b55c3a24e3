// Finds fields of messages, and applies conditions to them, by what logs announce of their columns.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/condition.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Names a value in a message as conditions do (docs/reference/conditions.md): a column, a position
/// such as `$0`, or `$` for all of the message. Immutable; copies share it.
class PUBSUB_EXPORT message_field {
public:
  /// `columns`: of the records, as in `condition_options`. Errors: as of `condition::make`;
  /// invalid_argument also for what is no value in a message: `@topic`, `@event`, `@size`.
  static expected<message_field> make(std::string_view text,
                                      std::vector<record_column> columns = {});

  /// In one spelling.
  const std::string& text() const noexcept { return text_; }

private:
  friend class message_fields;
  message_field(condition exists, std::string text)
      : exists_(std::move(exists)), text_(std::move(text)) {}

  condition exists_; // the only test of which is about the field
  std::string text_;
};

/// What messages of one source have announced, for any number of conditions and fields. Not
/// thread-safe. Values are in bin::v1, and nothing of them needs to have been checked.
class PUBSUB_EXPORT message_fields {
public:
  message_fields();
  message_fields(message_fields&&) noexcept;
  message_fields& operator=(message_fields&&) noexcept;
  ~message_fields();

  /// To be called for each message, in their order. True if it announces columns, which are known
  /// from then on.
  bool learn(std::string_view topic, std::span<const std::byte> value);
  /// What the message answers to the condition.
  condition_verdict judge(const condition& what, std::string_view topic,
                          std::span<const std::byte> value);
  /// `yes`, and then `out` is the field's part of `value`; `absent` where there is none, as in
  /// logs without that column; `unknown` where the columns of a log have not been announced;
  /// `unreadable`.
  condition_verdict find(const message_field& which, std::string_view topic,
                         std::span<const std::byte> value, std::span<const std::byte>& out);
  /// Forgets what conditions and fields it was asked about, and keeps what has been announced.
  void forget_questions() noexcept;

private:
  struct state;

  std::unique_ptr<state> state_;
};

} // namespace pubsub
