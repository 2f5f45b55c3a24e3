#include "history.hpp"

namespace flow_monitor {
namespace {

// A sender that keeps inventing sequence numbers must not make the text grow for ever.
constexpr std::size_t max_letters = 100;

bool is_power_of_ten(std::uint32_t x) {
  while (x % 10 == 0 && x != 0)
    x /= 10;
  return x == 1;
}

} // namespace

std::uint32_t& history::occurrences(char letter, side from) {
  return occurrences_[static_cast<std::size_t>(from)][static_cast<std::size_t>(letter - 'a')];
}

void history::add(char letter, side from) {
  if (text_.size() < max_letters)
    text_.push_back(from == side::orig ? static_cast<char>(letter - 'a' + 'A') : letter);
}

void history::add_once(char letter, side from) {
  if (occurrences(letter, from)++ == 0)
    add(letter, from);
}

void history::add_scaled(char letter, side from) {
  if (is_power_of_ten(++occurrences(letter, from)))
    add(letter, from);
}

} // namespace flow_monitor
