// SPDX-License-Identifier: BSD-3-Clause
#include "transport/memory/shared_region.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.hpp"

namespace pubsub {

namespace {

/// The first word, which names the layout: "pubsub-1".
constexpr std::uint64_t layout = 0x312d627573627570;
constexpr int wanted_seals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr std::size_t rings = 2;

struct control_page {
  std::atomic<std::uint64_t> layout;
  ring_control ring[rings];
};

std::size_t page_bytes() noexcept {
  static const auto result = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return result;
}

std::size_t file_bytes(std::size_t ring_bytes) noexcept {
  return page_bytes() + rings * ring_bytes;
}

error system_error(errc code, const char* what) {
  return {code, std::string{what} + ": " + std::strerror(errno)};
}

/// The pages of the file go to this node, whichever process touches them first.
bool place_on(std::byte* begin, std::size_t bytes, unsigned numa_node) noexcept {
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  unsigned long nodes[16]{};
  if (numa_node >= bits * std::size(nodes))
    return false;
  nodes[numa_node / bits] = 1UL << (numa_node % bits);
  return ::syscall(SYS_mbind, begin, bytes, MPOL_PREFERRED, nodes, bits * std::size(nodes) + 1,
                   0) == 0;
}

/// Both only make things faster: where the system refuses, things work as well.
void place(std::byte* begin, std::size_t bytes, const shared_memory_options& options) {
  if (options.numa_node && !place_on(begin, bytes, *options.numa_node))
    log(log_level::warning, "shared memory cannot be placed on NUMA node " +
                                std::to_string(*options.numa_node) + ": " + std::strerror(errno));
  if (options.pages == memory_pages::huge && ::madvise(begin, bytes, MADV_HUGEPAGE) != 0)
    log(log_level::warning,
        std::string{"no huge pages for shared memory: "} + std::strerror(errno));
}

} // namespace

expected<shared_region> shared_region::make(const shared_memory_options& options) {
  static_assert(sizeof(control_page) <= 4096, "one page, however small");
  const auto ring_bytes = std::bit_ceil(std::max(options.ring_bytes, page_bytes()));
  unique_fd memory{::memfd_create("pubsub-link", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!memory.valid())
    return system_error(errc::limit_exceeded, "no shared memory");
  if (::ftruncate(memory.get(), static_cast<off_t>(file_bytes(ring_bytes))) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, wanted_seals | F_SEAL_SEAL) != 0)
    return system_error(errc::limit_exceeded, "no shared memory of this size");
  shared_region result{std::move(memory), region_side::maker, ring_bytes};
  if (!result.map())
    return system_error(errc::limit_exceeded, "shared memory cannot be mapped");
  place(result.base_, result.mapped_bytes(), options);
  reinterpret_cast<control_page*>(result.base_)->layout.store(layout, std::memory_order_release);
  return result;
}

/// The size is looked at once it can no longer change. Memory of huge pages is refused: it may run
/// out where it is touched, which ends the process.
expected<shared_region> shared_region::take(unique_fd memory, std::size_t max_ring_bytes) {
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || (seals & wanted_seals) != wanted_seals)
    return error{errc::invalid_data, "not memory of a fixed size"};
  struct statfs system {};
  struct stat file {};
  if (::fstatfs(memory.get(), &system) != 0 || system.f_type == HUGETLBFS_MAGIC ||
      ::fstat(memory.get(), &file) != 0)
    return error{errc::invalid_data, "memory of another kind"};
  const auto bytes = static_cast<std::size_t>(file.st_size);
  if (bytes < page_bytes())
    return error{errc::invalid_data, "memory without rings"};
  const auto ring_bytes = (bytes - page_bytes()) / rings;
  if (ring_bytes > max_ring_bytes)
    return error{errc::limit_exceeded, "rings of " + std::to_string(ring_bytes) +
                                           " bytes; the limit is " +
                                           std::to_string(max_ring_bytes)};
  if (ring_bytes < page_bytes() || !std::has_single_bit(ring_bytes) ||
      bytes != file_bytes(ring_bytes))
    return error{errc::invalid_data, "memory of " + std::to_string(bytes) + " bytes"};
  shared_region result{std::move(memory), region_side::taker, ring_bytes};
  if (!result.map())
    return system_error(errc::limit_exceeded, "shared memory cannot be mapped");
  result.release_fd();
  if (reinterpret_cast<control_page*>(result.base_)->layout.load(std::memory_order_acquire) !=
      layout)
    return error{errc::invalid_data, "memory of another layout"};
  return result;
}

shared_region::shared_region(shared_region&& other) noexcept
    : memory_(std::move(other.memory_)), side_(other.side_), ring_bytes_(other.ring_bytes_),
      base_(std::exchange(other.base_, nullptr)) {}

shared_region::~shared_region() {
  if (base_ != nullptr)
    ::munmap(base_, mapped_bytes());
}

std::size_t shared_region::bytes() const noexcept {
  return file_bytes(ring_bytes_);
}

std::size_t shared_region::mapped_bytes() const noexcept {
  return page_bytes() + 2 * rings * ring_bytes_;
}

bool shared_region::map() noexcept {
  void* const reserved = ::mmap(nullptr, mapped_bytes(), PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return false;
  base_ = static_cast<std::byte*>(reserved); // unmapped as a whole, whatever comes now
  const auto put = [&](std::size_t at, std::size_t bytes, std::size_t offset) {
    return ::mmap(base_ + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_.get(),
                  static_cast<off_t>(offset)) != MAP_FAILED;
  };
  const auto first = page_bytes();
  bool mapped = put(0, first, 0);
  for (std::size_t i = 0; i < 2 * rings; ++i) // each of them twice
    mapped = mapped && put(first + i * ring_bytes_, ring_bytes_, first + i / 2 * ring_bytes_);
  return mapped;
}

ring_view shared_region::ring(std::size_t index) const noexcept {
  return {.control = &reinterpret_cast<control_page*>(base_)->ring[index],
          .bytes = base_ + page_bytes() + 2 * index * ring_bytes_,
          .capacity = ring_bytes_};
}

} // namespace pubsub
