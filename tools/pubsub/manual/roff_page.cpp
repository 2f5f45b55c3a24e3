// SPDX-License-Identifier: BSD-3-Clause
#include "manual/roff_page.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace pubsub::tool {

std::string roff_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
    case '\\':
      result += "\\e";
      break;
    case '-':
      result += "\\-"; // a plain one is shown as a hyphen, which shells do not know
      break;
    case '\'':
      result += "\\(aq";
      break;
    case '`':
      result += "\\(ga";
      break;
    case '^':
      result += "\\(ha";
      break;
    case '~':
      result += "\\(ti";
      break;
    default:
      result += c;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff_text(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + roff_text(text) + "\\fR";
}

std::string roff_sentence(std::string_view text) {
  std::string result;
  for (bool quoted = false; !text.empty(); quoted = !quoted) {
    const auto part = text.substr(0, text.find('`'));
    result += quoted ? bold(part) : roff_text(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return result;
}

roff_page::roff_page(std::string_view name, int section, std::string_view purpose) {
  std::string title{name};
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string what{purpose};
  if (!what.empty())
    what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  if (what.ends_with('.'))
    what.pop_back();
  text_ = fmt::format(".TH {} {} \"\" \"libpubsub {}\" \"libpubsub\"\n", roff_text(title), section,
                      PUBSUB_VERSION);
  heading("NAME");
  text_ += fmt::format("{} \\- {}\n", roff_text(name), roff_sentence(what));
}

roff_page& roff_page::heading(std::string_view title) {
  text_ += fmt::format(".SH {}\n", title);
  below_heading_ = true;
  return *this;
}

roff_page& roff_page::paragraph(std::string_view roff) {
  text_ += fmt::format("{}{}\n", below_heading_ ? "" : ".PP\n", roff);
  below_heading_ = false;
  return *this;
}

roff_page& roff_page::item(std::string_view head, std::string_view roff) {
  text_ += fmt::format(".TP\n{}\n{}\n", head, roff);
  below_heading_ = false;
  return *this;
}

roff_page& roff_page::listing(std::string_view lines) {
  below_heading_ = false;
  text_ += ".nf\n";
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    text_ += roff_text(line) + "\n";
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  text_ += ".fi\n";
  return *this;
}

} // namespace pubsub::tool
