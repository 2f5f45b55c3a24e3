// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/delivery.hpp"

#include <array>
#include <charconv>

namespace pubsub::bridge {

std::optional<delivery> parse_delivery(std::string_view subject) {
  std::array<std::string_view, 13> parts;
  std::size_t count = 0;
  for (auto rest = subject;; ++count) {
    const auto dot = rest.find('.');
    if (count == parts.size())
      return {};
    parts[count] = rest.substr(0, dot);
    if (dot == std::string_view::npos)
      break;
    rest.remove_prefix(dot + 1);
  }
  ++count;
  if (count < 9 || count == 10 || parts[0] != "$JS" || parts[1] != "ACK")
    return {};
  const std::size_t first = count == 9 ? 4 : 6; // the first number
  delivery result;
  std::uint64_t time = 0;
  std::uint64_t* const numbers[] = {&result.times, &result.stream_sequence,
                                    &result.consumer_sequence, &time, &result.pending};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto text = parts[first + i];
    const auto [at, failure] = std::from_chars(text.data(), text.data() + text.size(), *numbers[i]);
    if (failure != std::errc{} || at != text.data() + text.size())
      return {};
  }
  return result;
}

} // namespace pubsub::bridge
