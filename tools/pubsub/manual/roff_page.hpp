// A page of the manual, in the macros of man(7).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace pubsub::tool {

/// The text with nothing in it that roff would take for its own.
std::string roff_text(std::string_view text);
std::string bold(std::string_view text);
std::string italic(std::string_view text);
/// A sentence in which `words` in back quotes are bold.
std::string roff_sentence(std::string_view text);

class roff_page {
public:
  roff_page(std::string_view name, int section, std::string_view purpose);

  roff_page& heading(std::string_view title);
  /// What follows is roff already, here and below.
  roff_page& paragraph(std::string_view roff);
  roff_page& item(std::string_view head, std::string_view roff);
  /// Lines as they stand.
  roff_page& listing(std::string_view lines);

  const std::string& text() const noexcept { return text_; }

private:
  std::string text_;
  bool below_heading_ = false; // where a paragraph begins by itself
};

} // namespace pubsub::tool
