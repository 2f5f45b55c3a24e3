// A program run as a child, spoken to through pipes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "own_program.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool::bench {

/// Runs this program's own binary with other arguments, or another program. Its stdout comes line
/// by line to `read_line`; closing its stdin asks it to end. It is killed when this process dies or
/// the handle is destroyed.
class child_process {
public:
  /// Throws std::system_error if no process can be made.
  child_process(std::string name, const std::vector<std::string>& arguments)
      : child_process(std::move(name), own_program(), arguments) {}
  /// A program that cannot be run ends with exit status 127.
  child_process(std::string name, std::string program, const std::vector<std::string>& arguments);
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&&) = delete;
  ~child_process();

  const std::string& name() const noexcept { return name_; }
  pid_t pid() const noexcept { return pid_; }
  /// Readable when the child has written something or ended.
  int fd() const noexcept { return output_; }

  /// The next complete line that has been written already. Never blocks.
  std::optional<std::string> read_line();
  /// True once the child has closed its output and every line of it was taken.
  bool finished() const noexcept { return finished_; }

  /// Stops it, and lets it go on: so that it takes no time while something else is measured.
  void suspend() noexcept;
  void resume() noexcept;
  /// Writes a line to the child's stdin.
  void tell(std::string line) noexcept;
  /// Closes the child's stdin.
  void ask_to_end() noexcept;
  /// Waits for its end, killing it at the deadline. Returns how it ended, e.g. `exit status 0`,
  /// `signal 9`.
  std::string wait(const deadline& end);

private:
  std::string name_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;
  bool finished_ = false;
  std::string ending_;
};

} // namespace pubsub::tool::bench
