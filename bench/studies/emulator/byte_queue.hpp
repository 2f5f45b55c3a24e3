// Bytes in the order they came, in blocks that sockets read into and write from.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <sys/uio.h>

namespace emulator {

/// Blocks that are used again. Must outlive the queues that take from it.
class block_pool {
public:
  static constexpr std::size_t block_bytes = 64 * 1024;
  using block = std::unique_ptr<std::byte[]>;

  block take();
  void give_back(block x);

private:
  std::vector<block> free_;
};

/// Grows as it is filled; whoever fills it knows when to stop.
class byte_queue {
public:
  explicit byte_queue(block_pool& pool) noexcept : pool_(pool) {}
  byte_queue(byte_queue&&) = delete;
  ~byte_queue() { clear(); }

  std::size_t size() const noexcept { return size_; }
  /// Where the next bytes may be put: a good part of a block. Valid until the next call.
  std::span<std::byte> room();
  /// So many have been put there.
  void filled(std::size_t bytes);
  /// Lists the first `bytes`, or as many as there is room for in `to`; returns how many entries.
  std::size_t list(std::size_t bytes, std::span<iovec> to) const;
  void drop(std::size_t bytes);
  void clear();

private:
  struct part {
    block_pool::block block;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  block_pool& pool_;
  std::deque<part> parts_;
  std::size_t size_ = 0;
};

} // namespace emulator
