// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/regex.hpp>

#include <re2/re2.h>

namespace pubsub {

namespace {

constexpr std::int64_t most_memory_bytes = 1 << 20;

RE2::Options options() {
  RE2::Options result{RE2::Latin1};
  result.set_log_errors(false);
  result.set_max_mem(most_memory_bytes);
  result.set_never_capture(true);
  return result;
}

class re2_matcher final : public text_matcher {
public:
  explicit re2_matcher(std::string_view expression)
      : compiled_(re2::StringPiece{expression.data(), expression.size()}, options()) {}

  const RE2& compiled() const noexcept { return compiled_; }
  bool matches(std::string_view text) const noexcept override {
    return RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, compiled_);
  }

private:
  const RE2 compiled_;
};

} // namespace

expected<std::shared_ptr<const text_matcher>> make_re2_matcher(std::string_view expression) {
  auto made = std::make_shared<const re2_matcher>(expression);
  if (!made->compiled().ok())
    return error{errc::invalid_argument, made->compiled().error()};
  return std::shared_ptr<const text_matcher>{std::move(made)};
}

} // namespace pubsub
