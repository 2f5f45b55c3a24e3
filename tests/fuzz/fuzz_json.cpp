// Any text as json::v1: refused, or a value that survives the other formats.
#include "fuzz/check.hpp"

#include <cstdint>

using namespace pubsub;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(input), size};
  const auto value = from_json(text);
  const auto message = message_from_json(text);
  fuzz::check(value.has_value() == message.has_value(), "a message is a value with a topic");
  if (!value) {
    fuzz::check(!value.error().context().empty(), "an error says what is wrong");
    return 0;
  }
  fuzz::check(*value == message->value, "both entries read the same value");
  fuzz::check_bytes_give_back(*value);
  // Rendering loses digits, by which members of a set may coincide; nothing else may go wrong.
  const auto again = from_json(to_json(*value));
  fuzz::check(again || again.error() == errc::duplicate_key, "what was rendered parses");
  return 0;
}
