// SPDX-License-Identifier: BSD-3-Clause
#include "record/input_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

namespace pubsub::record {

namespace {

error cannot_open(const std::string& path, const std::string& why) {
  return {errc::cannot_open_file, path + ": " + why};
}

std::string reason(int number) {
  return std::generic_category().message(number);
}

} // namespace

expected<input_file> input_file::open(std::string path) {
  unique_fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd.valid())
    return cannot_open(path, reason(errno));
  struct ::stat about {};
  if (::fstat(fd.get(), &about) != 0)
    return cannot_open(path, reason(errno));
  if (!S_ISREG(about.st_mode))
    return cannot_open(path, "it is no regular file");
  return input_file{std::move(path), std::move(fd), static_cast<std::uint64_t>(about.st_size)};
}

expected<void> input_file::read(std::uint64_t offset, std::uint64_t size, byte_buffer& out) const {
  out.clear();
  if (offset > size_ || size > size_ - offset)
    return problem(errc::end_of_file, offset, "the file ends too early");
  auto* const at = out.extend(static_cast<std::size_t>(size));
  for (std::uint64_t done = 0; done < size;) {
    const auto n = ::pread(fd_.get(), at + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return problem(errc::cannot_open_file, offset + done, reason(errno));
    if (n == 0)
      return problem(errc::end_of_file, offset + done, "the file has become shorter");
    done += static_cast<std::uint64_t>(n);
  }
  return {};
}

error input_file::problem(errc code, std::uint64_t offset, const std::string& sentence) const {
  return {code, path_ + ", byte " + std::to_string(offset) + ": " + sentence};
}

} // namespace pubsub::record
