// SPDX-License-Identifier: BSD-3-Clause
#include "filter/text_cursor.hpp"

#include <algorithm>

namespace pubsub::conditions {

namespace {

constexpr std::size_t shown_before = 60;
constexpr std::size_t shown_behind = 40;

/// What would move the caret, or the terminal, becomes a dot.
char shown(char c) noexcept {
  return c >= ' ' && c <= '~' ? c : '.';
}

} // namespace

std::string show_place(std::string_view sentence, std::string_view text, text_place place) {
  const auto at = std::min(place.first, text.size());
  const auto line_begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1; // npos + 1 is 0
  const auto line_end = std::min(text.find('\n', at), text.size());
  const auto first = std::max(line_begin, at > shown_before ? at - shown_before : 0);
  const auto last = std::min(line_end, at + shown_behind);
  std::string result{sentence};
  result += "\n  ";
  std::transform(text.begin() + static_cast<std::ptrdiff_t>(first),
                 text.begin() + static_cast<std::ptrdiff_t>(last), std::back_inserter(result),
                 shown);
  result += "\n  ";
  result.append(at - first, ' ');
  const auto carets = std::min(std::max<std::size_t>(place.size, 1), std::max(last, at + 1) - at);
  result.append(carets, '^');
  return result;
}

bool text_cursor::take_word(std::string_view word) noexcept {
  skip_blanks();
  const auto rest = text_.substr(position_);
  if (!rest.starts_with(word))
    return false;
  const char next = rest.size() > word.size() ? rest[word.size()] : '\0';
  if (is_letter(next) || is_digit(next) || next == ':' ||
      (next == '.' && is_letter(rest.size() > word.size() + 1 ? rest[word.size() + 1] : '\0')))
    return false;
  advance(word.size());
  return true;
}

bool text_cursor::fail(std::string_view sentence, text_place place, errc code) {
  if (!failed())
    failure_ = error{code, show_place(sentence, text_, place)};
  return false;
}

} // namespace pubsub::conditions
