// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/line_reader.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pubsub {

namespace {

constexpr std::size_t read_bytes = 256 * 1024;

bool same_file(int fd, const std::string& path) {
  struct stat by_fd {};
  struct stat by_path {};
  if (::fstat(fd, &by_fd) != 0 || ::stat(path.c_str(), &by_path) != 0)
    return true; // moved away and not there again yet: stay with what is open
  return by_fd.st_ino == by_path.st_ino && by_fd.st_dev == by_path.st_dev;
}

bool truncated(int fd) {
  struct stat now {};
  auto position = ::lseek(fd, 0, SEEK_CUR);
  return position > 0 && ::fstat(fd, &now) == 0 && now.st_size < position;
}

} // namespace

expected<line_reader> line_reader::open(std::string file, reading mode) {
  if (file == "-")
    return line_reader{"standard input", STDIN_FILENO, reading::whole_file};
  int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return error{errc::cannot_open_file, file + ": " + std::strerror(errno)};
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(fd);
    return error{errc::cannot_open_file, file + ": " + std::strerror(EISDIR)};
  }
  return line_reader{std::move(file), fd, mode};
}

line_reader::line_reader(std::string file, int fd, reading mode)
    : file_(std::move(file)), fd_(fd), mode_(mode) {}

line_reader::line_reader(line_reader&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)), mode_(other.mode_),
      buffer_(std::move(other.buffer_)), begin_(other.begin_), scanned_(other.scanned_),
      skipping_(other.skipping_), ended_(other.ended_), line_(other.line_) {}

line_reader& line_reader::operator=(line_reader&& other) noexcept {
  if (this != &other) {
    close();
    file_ = std::move(other.file_);
    fd_ = std::exchange(other.fd_, -1);
    mode_ = other.mode_;
    buffer_ = std::move(other.buffer_);
    begin_ = other.begin_;
    scanned_ = other.scanned_;
    skipping_ = other.skipping_;
    ended_ = other.ended_;
    line_ = other.line_;
  }
  return *this;
}

line_reader::~line_reader() {
  close();
}

void line_reader::close() noexcept {
  if (fd_ > STDIN_FILENO)
    ::close(fd_);
  fd_ = -1;
}

bool line_reader::buffered() const noexcept {
  return ended_ || buffer_.find('\n', begin_) != std::string::npos;
}

expected<std::optional<std::string_view>> line_reader::next() {
  for (;;) {
    if (auto at = buffer_.find('\n', scanned_); at != std::string::npos) {
      auto length = at - begin_;
      auto line = take(length, length + 1);
      if (!std::exchange(skipping_, false))
        return std::optional{line};
      continue;
    }
    scanned_ = buffer_.size();
    if (scanned_ - begin_ > max_line_bytes) {
      begin_ = scanned_; // drops what is there of the long line
      if (!std::exchange(skipping_, true)) {
        auto problem = fail(errc::limit_exceeded, "the line is longer than 16 MiB and is skipped");
        return problem;
      }
    }
    switch (fill()) {
    case fill_result::more:
      break;
    case fill_result::failed:
      return fail(errc::cannot_open_file, std::strerror(errno));
    case fill_result::end:
      if (mode_ == reading::follow || begin_ == buffer_.size() || skipping_)
        return std::optional<std::string_view>{};
      return std::optional{take(buffer_.size() - begin_, buffer_.size() - begin_)};
    }
  }
}

std::string_view line_reader::take(std::size_t length, std::size_t consumed) {
  auto line = std::string_view{buffer_}.substr(begin_, length);
  begin_ += consumed;
  scanned_ = begin_;
  ++line_;
  if (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  return line;
}

line_reader::fill_result line_reader::fill() {
  if (ended_ || fd_ < 0)
    return fill_result::end;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  auto old_size = buffer_.size();
  buffer_.resize(old_size + read_bytes);
  auto n = ::read(fd_, buffer_.data() + old_size, read_bytes);
  buffer_.resize(old_size + (n > 0 ? static_cast<std::size_t>(n) : 0));
  if (n > 0)
    return fill_result::more;
  if (n < 0 && errno == EINTR)
    return fill_result::more;
  if (n < 0) {
    ended_ = true;
    return fill_result::failed;
  }
  if (mode_ == reading::follow)
    return reopen_if_replaced() ? fill_result::more : fill_result::end;
  ended_ = true;
  return fill_result::end;
}

// Log rotation: the path names another file now, or the file was cut short.
bool line_reader::reopen_if_replaced() {
  if (!same_file(fd_, file_)) {
    int fd = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return false;
    close();
    fd_ = fd;
  } else if (truncated(fd_)) {
    ::lseek(fd_, 0, SEEK_SET);
  } else {
    return false;
  }
  buffer_.clear();
  begin_ = scanned_ = 0;
  skipping_ = false;
  line_ = 0;
  return true;
}

error line_reader::fail(errc code, std::string_view cause) const {
  return {code, file_ + ":" + std::to_string(line_ + 1) + ": " + std::string{cause}};
}

} // namespace pubsub
