// SPDX-License-Identifier: BSD-3-Clause
#include "remote/remote_operations.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

constexpr std::chrono::seconds most_work{10};
constexpr std::chrono::microseconds not_slept{200}; // the end of a wait: timers are not that exact
constexpr int open_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

class open_file {
public:
  explicit open_file(int fd) noexcept : fd_(fd) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  int fd() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

private:
  int fd_;
};

std::string text_of(int code) {
  return std::generic_category().message(code);
}

/// Elements of a vector that has so many; otherwise nothing.
template <std::size_t N>
std::optional<std::array<data_view, N>> elements_of(const data_view& x) {
  if (x.type() != data_type::vector || x.size() != N)
    return std::nullopt;
  std::array<data_view, N> result;
  std::ranges::copy(x.elements(), result.begin());
  return result;
}

error too_long(std::uint64_t size) {
  return {errc::limit_exceeded,
          fmt::format("{} bytes: an operation delivers at most {}", size, most_result_bytes)};
}

expected<void> write_zeros(std::uint64_t size, data_writer& result) {
  if (size > most_result_bytes)
    return too_long(size);
  result.write_blank_string(size);
  return {};
}

void work_for(std::chrono::nanoseconds time) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + time;
  if (time > not_slept)
    std::this_thread::sleep_until(end - not_slept);
  while (clock::now() < end) {
  }
}

error cannot_open(const std::string& name, int code) {
  if (code == EXDEV)
    return {errc::invalid_argument, name + " leaves the served folder"};
  return {errc::cannot_open_file, fmt::format("{}: {}", name, text_of(code))};
}

/// Parts are opened one after the other; none may be a link, or lead up.
int open_by_steps(int folder, const std::filesystem::path& name) {
  int at = folder;
  std::optional<open_file> held;
  for (auto part = name.begin(); part != name.end(); ++part) {
    const bool last = std::next(part) == name.end();
    if (*part == ".." || name.is_absolute()) {
      errno = EXDEV;
      return -1;
    }
    const auto fd = ::openat(at, part->c_str(), open_flags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    if (fd < 0) {
      struct stat what {};
      const auto code = errno;
      const bool link =
          ::fstatat(at, part->c_str(), &what, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(what.st_mode);
      errno = link ? EXDEV : code;
      return -1;
    }
    held.emplace(fd);
    at = fd;
  }
  if (held)
    return held->release();
  errno = ENOENT;
  return -1;
}

expected<std::uint64_t> size_of_plain(int fd, const std::string& name) {
  struct stat what {};
  if (::fstat(fd, &what) != 0)
    return cannot_open(name, errno);
  if (S_ISDIR(what.st_mode))
    return cannot_open(name, EISDIR);
  if (!S_ISREG(what.st_mode))
    return error{errc::cannot_open_file, name + " is no plain file"};
  return static_cast<std::uint64_t>(what.st_size);
}

error too_short(const std::string& name, std::uint64_t offset, std::uint64_t size,
                std::uint64_t has) {
  return {errc::end_of_file,
          fmt::format("{} bytes from {} on of {}, which has {}", size, offset, name, has)};
}

} // namespace

// -- NOOP ----------------------------------------------------------------------------------------

expected<void> noop(const data_view& argument, data_writer& result) {
  if (argument.type() == data_type::count)
    return write_zeros(argument.as_count(), result);
  const auto parts = elements_of<3>(argument);
  if (!parts || (*parts)[0].type() != data_type::count ||
      (*parts)[1].type() != data_type::timespan || (*parts)[2].type() != data_type::string)
    return error{errc::type_clash, "noop takes a size, or [size, work, ballast]"};
  const auto work = (*parts)[1].as_timespan();
  if (work > most_work)
    return error{errc::limit_exceeded, "an operation takes at most ten seconds"};
  work_for(work);
  return write_zeros((*parts)[0].as_count(), result);
}

void write_noop(data_writer& to, std::size_t size_bytes, std::chrono::nanoseconds work,
                std::size_t ballast_bytes) {
  if (work.count() == 0 && ballast_bytes == 0)
    return to.write_count(size_bytes);
  to.begin_vector(3);
  to.write_count(size_bytes);
  to.write_timespan(work);
  to.write_blank_string(ballast_bytes);
}

// -- FAOP ----------------------------------------------------------------------------------------

void write_faop(data_writer& to, std::string_view file, std::uint64_t offset,
                std::uint64_t size_bytes) {
  to.begin_vector(3);
  to.write_string(file);
  to.write_count(offset);
  to.write_count(size_bytes);
}

expected<served_folder> served_folder::open(const std::string& path, resolving how) {
  const auto fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return cannot_open(path, errno);
  return served_folder{fd, how};
}

served_folder::served_folder(served_folder&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), how_(other.how_) {}

served_folder::~served_folder() {
  if (fd_ >= 0)
    ::close(fd_);
}

expected<int> served_folder::open_below(const std::string& name) const {
  if (name.find('\0') != std::string::npos)
    return error{errc::invalid_argument, "a name with a zero byte"};
  long fd = -1;
  errno = ENOSYS;
  if (how_ == resolving::at_once) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(open_flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    fd = ::syscall(SYS_openat2, fd_, name.c_str(), &how, sizeof how);
  }
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) // an old kernel, or a sandbox that forbids it
    fd = open_by_steps(fd_, name);
  if (fd < 0)
    return cannot_open(name, errno);
  return static_cast<int>(fd);
}

expected<void> served_folder::operator()(const data_view& argument, data_writer& result) const {
  const auto parts = elements_of<3>(argument);
  if (!parts || (*parts)[0].type() != data_type::string || (*parts)[1].type() != data_type::count ||
      (*parts)[2].type() != data_type::count)
    return error{errc::type_clash, "faop takes [file, offset, size]"};
  const std::string name{(*parts)[0].as_string()};
  const auto offset = (*parts)[1].as_count();
  const auto size = (*parts)[2].as_count();
  if (size > most_result_bytes)
    return too_long(size);
  const auto fd = open_below(name);
  if (!fd)
    return fd.error();
  const open_file file{*fd};
  const auto has = size_of_plain(file.fd(), name);
  if (!has)
    return has.error();
  if (offset > *has || size > *has - offset)
    return too_short(name, offset, size, *has);
  const auto space = result.write_blank_string(size);
  for (std::size_t done = 0; done < size;) {
    const auto n =
        ::pread(file.fd(), space.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return cannot_open(name, errno);
    if (n == 0) // it has just been cut
      return too_short(name, offset, size, offset + done);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

} // namespace pubsub::tool::bench
