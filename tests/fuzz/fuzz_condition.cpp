// Any text as a condition: refused with the place, or read as its canonical text says.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <pubsub/condition.hpp>

#include <optional>

namespace pubsub::fuzz {

namespace {

const std::vector<record_column> columns{{"id.resp_p", "port"}, {"uid", "string"}, {"n", "count"},
                                         {"tags", "set[addr]"}, {"a", ""},         {"b", "enum"}};

void check_error(const error& x) {
  check(x == errc::invalid_argument || x == errc::limit_exceeded || x == errc::not_supported,
        "a condition is refused for one of three reasons");
  check(!x.context().empty() && x.context().size() < 1000, "an error says where, in short");
}

void try_text(std::string_view text, const condition_options& options) {
  std::optional<expected<condition>> made;
  {
    const auto bound = bounded_by(text.size(), 8 * 1024); // a comparison takes five signs
    made = condition::make(text, options);
  }
  if (!*made)
    return check_error(made->error());
  const auto& x = **made;
  const auto again = condition::make(x.text(), options);
  check(again.has_value(), "the canonical text is a condition");
  check(*again == x && again->text() == x.text(), "the canonical text is canonical");
  const auto nothing = std::byte{0};
  const auto answer = x.judge("a/b", {&nothing, 1});
  check(answer == again->judge("a/b", {&nothing, 1}), "equal conditions answer alike");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  pubsub::fuzz::try_text(text, {});
  pubsub::condition_options options;
  options.columns = pubsub::fuzz::columns;
  pubsub::fuzz::try_text(text, options);
  return 0;
}
