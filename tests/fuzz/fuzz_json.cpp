// Any text as json::v1: refused, or a value that survives the other formats.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <optional>

namespace pubsub::fuzz {

namespace {

void try_input(std::span<const std::byte> bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  std::optional<expected<data>> read;
  {
    const auto bound = memory_bound{1024 * 1024 + 1024 * bytes.size()}; // the parser's own tapes
    read = from_json(text);
  }
  const auto& value = *read;
  const auto message = message_from_json(text);
  check(value.has_value() == message.has_value(), "a message is a value with a topic");
  if (!value) {
    check(!value.error().context().empty(), "an error says what is wrong");
    return;
  }
  check(*value == message->value, "both entries read the same value");
  check_bytes_give_back(*value);
  // Rendering loses digits, by which members of a set may coincide; nothing else may go wrong.
  const auto again = from_json(to_json(*value));
  check(again || again.error() == errc::duplicate_key, "what was rendered parses");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
