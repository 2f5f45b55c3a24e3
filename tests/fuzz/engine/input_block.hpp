// Where an input lies while it is decoded: whoever reads beyond it ends the program.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace pubsub::fuzz {

/// The last byte of an input is the last one before a page nobody may touch. With the address
/// sanitizer it is a heap block of its exact size instead, so that reading before it is found, too.
class input_block {
public:
  explicit input_block(std::size_t max_bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    room_ = (max_bytes + page - 1) / page * page;
    auto* const pages =
        ::mmap(nullptr, room_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
      throw std::bad_alloc{};
    begin_ = static_cast<std::byte*>(pages);
    ::mprotect(begin_ + room_, page, PROT_NONE);
  }
  input_block(const input_block&) = delete;
  input_block& operator=(const input_block&) = delete;

  /// Valid until the next call. `x` is no longer than announced.
  std::span<const std::byte> put(const std::string& x) {
#ifdef __SANITIZE_ADDRESS__
    copy_ = std::make_unique<std::byte[]>(x.size());
    auto* const at = copy_.get();
#else
    auto* const at = begin_ + room_ - x.size();
#endif
    std::memcpy(at, x.data(), x.size());
    return {at, x.size()};
  }

private:
  std::byte* begin_ = nullptr;
  std::size_t room_ = 0;
  std::unique_ptr<std::byte[]> copy_;
};

} // namespace pubsub::fuzz
