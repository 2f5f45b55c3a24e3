// A terminal that a program draws on as a whole, and that tells each key at once.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <termios.h>

namespace pubsub::tool {

struct screen_size {
  std::size_t columns = 80;
  std::size_t lines = 24;

  friend bool operator==(const screen_size&, const screen_size&) = default;
};

/// Whether stdin and stdout are a terminal that the cursor can be moved on.
bool can_draw();
/// Whether colours are wanted (https://no-color.org).
bool wants_colours();

/// Standard input and output while it lives: no echo, no waiting for the end of a line, a screen of
/// its own. Ctrl-C still raises SIGINT. The terminal is as before once it is destroyed.
class raw_terminal {
public:
  /// Errors: std::system_error.
  raw_terminal();
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;
  ~raw_terminal();

  /// Gives the terminal back and stops this process, as Ctrl-Z does; returns when it goes on.
  void suspend();
  static screen_size size();
  /// What was typed, without waiting. False once the terminal is gone.
  bool read(std::string& bytes) const;
  /// Lines from the top, with nothing on those below. Writes only what has changed. False once the
  /// terminal is gone.
  bool draw(std::vector<std::string> lines);
  /// The next time everything is written.
  void forget_drawn() { drawn_.clear(); }

private:
  void enter();
  void leave() const;

  termios before_{};
  std::vector<std::string> drawn_;
};

} // namespace pubsub::tool
