// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/condition.hpp>

#include "filter/program.hpp"

namespace pubsub {

std::string_view to_string(condition_verdict x) noexcept {
  switch (x) {
  case condition_verdict::no:
    return "no";
  case condition_verdict::yes:
    return "yes";
  case condition_verdict::absent:
    return "absent";
  case condition_verdict::unknown:
    return "unknown";
  case condition_verdict::unreadable:
    return "unreadable";
  }
  return "unknown";
}

expected<condition> condition::make(std::string_view text, const condition_options& options) {
  auto program = condition_program::make(text, options);
  if (!program)
    return program.error();
  return condition{std::move(*program)};
}

const std::string& condition::text() const noexcept {
  return program_->text();
}
if_unknown condition::unknown() const noexcept {
  return program_->unknown();
}
const std::vector<record_column>& condition::columns() const noexcept {
  return program_->columns();
}

condition_verdict condition::judge(std::string_view topic,
                                   std::span<const std::byte> value) const noexcept {
  conditions::encoded_record record{value};
  return program_->judge(topic, record, program_->given_places());
}

} // namespace pubsub
