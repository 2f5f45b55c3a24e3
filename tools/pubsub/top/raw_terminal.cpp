// SPDX-License-Identifier: BSD-3-Clause
#include "top/raw_terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pubsub::tool {

namespace {

// The sequences of ECMA-48 and of xterm that every terminal of today knows.
constexpr std::string_view own_screen = "\x1b[?1049h\x1b[?25l\x1b[2J"; // the cursor hidden
constexpr std::string_view usual_screen = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// The value of a variable; empty where it is not set.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EAGAIN) { // another program has made the terminal non-blocking
      pollfd entry{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&entry, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return false;
    } else if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  return true;
}

} // namespace

bool can_draw() {
  const auto kind = variable("TERM");
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && !kind.empty() &&
         kind != "dumb";
}

bool wants_colours() {
  return variable("NO_COLOR").empty();
}

raw_terminal::raw_terminal() {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0)
    throw std::system_error(errno, std::generic_category(), "tcgetattr");
  enter();
}

raw_terminal::~raw_terminal() {
  leave();
}

void raw_terminal::enter() {
  auto raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VQUIT] = _POSIX_VDISABLE; // that signal would leave the terminal as it is now
  if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0)
    throw std::system_error(errno, std::generic_category(), "tcsetattr");
  write_all(own_screen);
  drawn_.clear();
}

void raw_terminal::leave() const {
  write_all(usual_screen);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

void raw_terminal::suspend() {
  leave();
  ::kill(::getpid(), SIGSTOP);
  enter();
}

screen_size raw_terminal::size() {
  winsize told{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) != 0 || told.ws_col == 0 || told.ws_row == 0)
    return {};
  return {told.ws_col, told.ws_row};
}

bool raw_terminal::read(std::string& bytes) const {
  pollfd entry{STDIN_FILENO, POLLIN, 0};
  if (::poll(&entry, 1, 0) <= 0)
    return true;
  char buffer[256];
  const auto n = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (n > 0)
    bytes.append(buffer, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

bool raw_terminal::draw(std::vector<std::string> lines) {
  std::string text = drawn_.empty() ? "\x1b[2J" : "";
  for (std::size_t i = 0; i < std::max(lines.size(), drawn_.size()); ++i) {
    const std::string_view line = i < lines.size() ? lines[i] : std::string_view{};
    if (i >= drawn_.size() || drawn_[i] != line)
      text += fmt::format("\x1b[{};1H\x1b[2K{}\x1b[0m", i + 1, line);
  }
  drawn_ = std::move(lines);
  return write_all(text);
}

} // namespace pubsub::tool
