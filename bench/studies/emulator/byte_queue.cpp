// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/byte_queue.hpp"

#include <algorithm>

namespace emulator {

namespace {

constexpr std::size_t kept_blocks = 512;
constexpr std::size_t worth_reading_into = block_pool::block_bytes / 4;

} // namespace

block_pool::block block_pool::take() {
  if (free_.empty())
    return block{new std::byte[block_bytes]};
  auto last = std::move(free_.back());
  free_.pop_back();
  return last;
}

void block_pool::give_back(block x) {
  if (free_.size() < kept_blocks)
    free_.push_back(std::move(x));
}

std::span<std::byte> byte_queue::room() {
  if (parts_.empty() || block_pool::block_bytes - parts_.back().end < worth_reading_into)
    parts_.push_back({pool_.take()});
  const auto& last = parts_.back();
  return {last.block.get() + last.end, block_pool::block_bytes - last.end};
}

void byte_queue::filled(std::size_t bytes) {
  parts_.back().end += bytes;
  size_ += bytes;
}

std::size_t byte_queue::list(std::size_t bytes, std::span<iovec> to) const {
  std::size_t n = 0;
  for (auto each = parts_.begin(); each != parts_.end() && bytes > 0 && n < to.size(); ++each) {
    const auto length = std::min(bytes, each->end - each->begin);
    if (length > 0)
      to[n++] = {each->block.get() + each->begin, length};
    bytes -= length;
  }
  return n;
}

void byte_queue::drop(std::size_t bytes) {
  size_ -= bytes;
  while (!parts_.empty()) {
    auto& first = parts_.front();
    const auto gone = std::min(bytes, first.end - first.begin);
    first.begin += gone;
    bytes -= gone;
    if (first.begin < first.end)
      return;
    pool_.give_back(std::move(first.block));
    parts_.pop_front();
  }
}

void byte_queue::clear() {
  drop(size_);
}

} // namespace emulator
