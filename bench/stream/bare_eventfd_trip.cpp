// SPDX-License-Identifier: BSD-3-Clause
#include "stream/bare_eventfd_trip.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

int checked(int result, const char* call) {
  if (result < 0)
    throw std::system_error(errno, std::generic_category(), call);
  return result;
}

class eventfd_trip final : public round_trip {
public:
  explicit eventfd_trip(const eventfd_pair& shared)
      : shared_(shared), out_(shared.request_room().size()), in_(out_.size()) {}

private:
  bool send(std::uint64_t number) override {
    std::memcpy(out_.data(), &number, sizeof number);
    std::memcpy(shared_.request_room().data(), out_.data(), out_.size());
    return ::eventfd_write(shared_.request_fd(), 1) == 0;
  }

  // The wait before the read gives it an end: one call more than the bare minimum.
  std::optional<std::uint64_t> receive(std::chrono::nanoseconds timeout) override {
    pollfd entry{shared_.reply_fd(), POLLIN, 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
    int ready = 0;
    do
      ready = ::poll(&entry, 1, static_cast<int>(ms));
    while (ready < 0 && errno == EINTR);
    eventfd_t messages = 0;
    if (ready <= 0 || ::eventfd_read(shared_.reply_fd(), &messages) != 0)
      return std::nullopt;
    std::memcpy(in_.data(), shared_.reply_room().data(), in_.size());
    std::uint64_t number = 0;
    std::memcpy(&number, in_.data(), sizeof number);
    return number;
  }

  const eventfd_pair& shared_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
};

} // namespace

eventfd_pair::eventfd_pair(std::size_t message_bytes)
    : memory_(checked(::memfd_create("pubsub-bench", 0), "memfd_create")),
      request_(checked(::eventfd(0, 0), "eventfd")), reply_(checked(::eventfd(0, 0), "eventfd")) {
  checked(::ftruncate(memory_, static_cast<off_t>(2 * message_bytes)), "ftruncate");
  map();
}

eventfd_pair::eventfd_pair(const std::vector<int>& numbers) {
  if (numbers.size() != 3)
    throw std::invalid_argument{"expected the numbers of three descriptors"};
  memory_ = numbers[0];
  request_ = numbers[1];
  reply_ = numbers[2];
  map();
}

eventfd_pair::~eventfd_pair() {
  ::munmap(mapped_, mapped_bytes_);
  for (auto fd : numbers())
    ::close(fd);
}

void eventfd_pair::keep_to_this_process() noexcept {
  for (auto fd : numbers())
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void eventfd_pair::map() {
  struct stat about {};
  checked(::fstat(memory_, &about), "fstat");
  mapped_bytes_ = static_cast<std::size_t>(about.st_size);
  auto* const memory =
      ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "mmap");
  mapped_ = static_cast<std::byte*>(memory);
}

std::unique_ptr<round_trip> make_eventfd_trip(const eventfd_pair& shared) {
  return std::make_unique<eventfd_trip>(shared);
}

echo_events::echo_events(const eventfd_pair& shared) : shared_(shared) {
  thread_ = std::thread{[this] {
    const auto from = shared_.request_room();
    const auto to = shared_.reply_room();
    eventfd_t messages = 0;
    while (::eventfd_read(shared_.request_fd(), &messages) == 0 && !stop_) {
      std::memcpy(to.data(), from.data(), from.size());
      if (::eventfd_write(shared_.reply_fd(), 1) != 0)
        return;
    }
  }};
}

echo_events::~echo_events() {
  stop_ = true;
  ::eventfd_write(shared_.request_fd(), 1);
  thread_.join();
}

} // namespace pubsub::tool::bench
