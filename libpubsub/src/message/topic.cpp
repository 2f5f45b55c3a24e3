// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/topic.hpp>

namespace pubsub {

topic& topic::operator/=(std::string_view suffix) {
  if (!suffix.starts_with('/') && !text_.ends_with('/'))
    text_ += '/';
  else if (suffix.starts_with('/') && text_.ends_with('/'))
    text_.pop_back();
  text_ += suffix;
  if (text_.ends_with('/'))
    text_.pop_back();
  return *this;
}

bool is_reserved_topic(std::string_view text) noexcept {
  return text.find("<$>") != std::string_view::npos;
}

} // namespace pubsub
