// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/writing/log_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pubsub::zeek {

namespace {

void close_file(int fd) noexcept {
  if (fd >= 0)
    ::close(fd);
}

/// Lines that are no part of a header or of what stands at the end.
std::uint64_t records_in(std::string_view lines) {
  std::uint64_t result = 0;
  while (!lines.empty()) {
    result += lines.front() == '#' ? 0 : 1;
    const auto end = lines.find('\n');
    lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
  }
  return result;
}

/// How many of the bytes were written; fewer than all only with `errno`.
std::size_t write_all(int fd, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n == 0 || errno != EINTR)
      break;
  }
  return done;
}

} // namespace

expected<log_directory> log_directory::open(std::string path) {
  log_directory result{std::move(path), -1};
  result.fd_ = ::open(result.path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (result.fd_ < 0 || ::faccessat(result.fd_, ".", W_OK | X_OK, 0) != 0)
    return error{errc::cannot_write_file,
                 result.path_ + ": " + std::generic_category().message(errno)};
  // Some file systems have no locks.
  if (::flock(result.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return error{errc::cannot_write_file, result.path_ + ": another process writes logs there"};
  return result;
}

log_directory::log_directory(log_directory&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

log_directory& log_directory::operator=(log_directory&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

log_directory::~log_directory() {
  close_file(fd_);
}

std::string log_directory::path_of(std::string_view name) const {
  return path_ + (path_.ends_with('/') ? "" : "/") + std::string{name};
}

error log_directory::failure(std::string_view name) const {
  return {errc::cannot_write_file, path_of(name) + ": " + std::generic_category().message(errno)};
}

std::optional<std::int64_t> log_directory::changed_at(const std::string& file) const {
  struct stat found {};
  if (::fstatat(fd_, file.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
    return {};
  return found.st_mtime;
}

expected<std::string> log_directory::move_away(const std::string& name,
                                               const std::string& when) const {
  constexpr int most_of_a_moment = 10'000;
  const auto old_name = name + ".log";
  for (int number = 1; number <= most_of_a_moment; ++number) {
    const auto suffix = number > 1 ? "." + std::to_string(number) : std::string{};
    auto new_name = name + "." + when + suffix + ".log";
    if (changed_at(new_name))
      continue;
    if (::renameat(fd_, old_name.c_str(), fd_, new_name.c_str()) == 0)
      return new_name;
    if (errno == ENOENT) // somebody has moved it
      return std::string{};
    return failure(old_name);
  }
  errno = EEXIST;
  return failure(name + "." + when + ".log");
}

expected<log_file> log_file::create(const log_directory& directory, std::string name) {
  constexpr mode_t all_that_the_mask_allows = 0666;
  const int fd =
      ::openat(directory.fd(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               all_that_the_mask_allows);
  if (fd < 0)
    return directory.failure(name);
  return log_file{directory, std::move(name), fd};
}

log_file::log_file(log_file&& other) noexcept
    : directory_(other.directory_), name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)), pending_(std::move(other.pending_)), size_(other.size_),
      lost_(other.lost_), failed_(other.failed_) {}

log_file& log_file::operator=(log_file&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(name_, other.name_);
  std::swap(fd_, other.fd_);
  std::swap(pending_, other.pending_);
  std::swap(size_, other.size_);
  std::swap(lost_, other.lost_);
  std::swap(failed_, other.failed_);
  return *this;
}

log_file::~log_file() {
  close_file(fd_);
}

expected<void> log_file::flush() {
  const auto done = write_all(fd_, pending_);
  if (done == pending_.size()) {
    size_ += static_cast<std::int64_t>(done);
    pending_.clear();
    return {};
  }
  const auto failure = directory_->failure(name_);
  take_back(std::string_view{pending_}.substr(0, done));
  pending_.clear();
  failed_ = true;
  return failure;
}

void log_file::take_back(std::string_view written) {
  const auto whole = written.rfind('\n') + 1; // npos + 1 is 0
  size_ += static_cast<std::int64_t>(whole);
  lost_ += records_in(std::string_view{pending_}.substr(whole));
  // Where the rest cannot be taken back either, a part of a line stays.
  [[maybe_unused]] const auto done = ::ftruncate(fd_, size_);
}

} // namespace pubsub::zeek
