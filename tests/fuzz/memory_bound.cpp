// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/memory_bound.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

// GCC tells of the address sanitizer by a macro, clang by a feature.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define PUBSUB_FUZZ_MALLOC_HOOKS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PUBSUB_FUZZ_MALLOC_HOOKS
#endif

#ifdef PUBSUB_FUZZ_MALLOC_HOOKS // GCC comes without the header that declares it
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*,
                                                                  std::size_t),
                                                         void (*)(const volatile void*));
#endif

namespace {

constexpr auto unbounded = std::numeric_limits<std::size_t>::max();
thread_local constinit std::size_t bytes_left = unbounded;

void count(std::size_t size) {
  if (bytes_left == unbounded)
    return;
  if (size > bytes_left) {
    bytes_left = unbounded; // reporting needs memory, too
    std::fprintf(stderr, "does not hold: memory stays in proportion to the input\n");
    std::abort();
  }
  bytes_left -= size;
}

} // namespace

namespace pubsub::fuzz {

memory_bound::memory_bound(std::size_t bytes) noexcept {
#ifdef PUBSUB_FUZZ_MALLOC_HOOKS
  static const bool hooked = __sanitizer_install_malloc_and_free_hooks(
                                 [](const volatile void*, std::size_t size) { count(size); },
                                 [](const volatile void*) {}) != 0;
  if (!hooked)
    std::abort();
#endif
  bytes_left = bytes;
}
memory_bound::~memory_bound() {
  bytes_left = unbounded;
}

} // namespace pubsub::fuzz

#ifndef PUBSUB_FUZZ_MALLOC_HOOKS // a sanitizer checks that new goes with delete, which these would
                                 // hide

namespace {

void* take(std::size_t size) noexcept {
  count(size);
  return std::malloc(size == 0 ? 1 : size);
}

void* take_or_throw(std::size_t size) {
  if (auto* result = take(size))
    return result;
  throw std::bad_alloc{};
}

} // namespace

void* operator new(std::size_t size) {
  return take_or_throw(size);
}
void* operator new[](std::size_t size) {
  return take_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}

#endif
