// The `history` column: one letter per kind of event, upper case for the originator.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace flow_monitor {

enum class side : std::uint8_t { orig = 0, resp = 1 };

class history {
public:
  /// Notes every occurrence: s, h, f, r.
  void add(char letter, side from);
  /// Notes only the first one in each direction: a, d, i, q.
  void add_once(char letter, side from);
  /// Notes the 1st, 10th, 100th, ... in each direction: t, g, w.
  void add_scaled(char letter, side from);
  /// Notes that orig and resp were exchanged: the first packet came from the responder.
  void add_flip() { text_.push_back('^'); }

  [[nodiscard]] const std::string& text() const { return text_; }

private:
  std::uint32_t& occurrences(char letter, side from);

  std::string text_;
  std::array<std::array<std::uint32_t, 26>, 2> occurrences_{};
};

} // namespace flow_monitor
