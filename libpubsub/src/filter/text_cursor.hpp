// Walks over the text of a condition; errors show the place.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <pubsub/error.hpp>

#include "filter/expression.hpp"

namespace pubsub::conditions {

/// The sentence, the line of the text in which `place` begins, and carets below it.
std::string show_place(std::string_view sentence, std::string_view text, text_place place);

inline bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
inline bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// A place in the text, which only moves on. The first failure stays.
class text_cursor {
public:
  explicit text_cursor(std::string_view text) noexcept : text_(text) {}

  std::size_t position() const noexcept { return position_; }
  bool at_end() const noexcept { return position_ == text_.size(); }
  /// The character `ahead` of the next one; NUL behind the end.
  char peek(std::size_t ahead = 0) const noexcept {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  std::string_view from(std::size_t first) const noexcept {
    return text_.substr(first, position_ - first);
  }
  std::string_view text() const noexcept { return text_; }
  void advance(std::size_t n = 1) noexcept { position_ += n; }
  void skip_blanks() noexcept {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')
      advance();
  }
  /// Passes over blanks, and over `sign` if it is next.
  bool take(std::string_view sign) noexcept {
    skip_blanks();
    if (!text_.substr(position_).starts_with(sign))
      return false;
    advance(sign.size());
    return true;
  }
  /// As `take`, for a word that no other letter, digit, or sign of a name follows.
  bool take_word(std::string_view word) noexcept;

  /// Always false. Only the first call has an effect.
  bool fail(std::string_view sentence, text_place place, errc code = errc::invalid_argument);
  /// At what comes next.
  bool fail(std::string_view sentence) {
    skip_blanks();
    return fail(sentence, {position_, 1});
  }
  bool failed() const noexcept { return static_cast<bool>(failure_); }
  const error& failure() const noexcept { return failure_; }

private:
  std::string_view text_;
  std::size_t position_ = 0;
  error failure_;
};

} // namespace pubsub::conditions
