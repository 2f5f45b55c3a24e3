// A text that many records have, kept once.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace pubsub::bridge {

/// Copying one costs a reference count.
class shared_text {
public:
  shared_text() = default;
  shared_text(std::string_view text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(text)) {}
  shared_text(const std::string& text) : shared_text(std::string_view{text}) {}
  shared_text(const char* text) : shared_text(std::string_view{text}) {}

  std::string_view view() const noexcept { return text_ ? *text_ : std::string_view{}; }
  operator std::string_view() const noexcept { return view(); }
  const char* c_str() const noexcept { return text_ ? text_->c_str() : ""; }
  bool empty() const noexcept { return !text_; }
  std::size_t size() const noexcept { return view().size(); }

  friend bool operator==(const shared_text& x, std::string_view y) noexcept {
    return x.view() == y;
  }
  friend bool operator==(const shared_text& x, const shared_text& y) noexcept {
    return x.text_ == y.text_ || x.view() == y.view();
  }

private:
  std::shared_ptr<const std::string> text_;
};

} // namespace pubsub::bridge
