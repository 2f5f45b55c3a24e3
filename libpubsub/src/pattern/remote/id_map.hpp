// A map whose keys are ids given out one after the other; erased in any order. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace pubsub::pattern {

/// Finding and giving up take the same time however many there are. One that stays long does not
/// keep the memory of all that come after it: at most that of its block.
template <class T>
class id_map {
public:
  /// Returns its number: 0, 1, ...
  std::uint64_t add(T x) {
    const auto number = end_++;
    if (number % block_size == 0)
      blocks_.push_back(std::make_unique<block>());
    auto& into = *blocks_.back();
    into.things[number % block_size].emplace(std::move(x));
    ++into.kept;
    ++size_;
    return number;
  }

  /// Null once it is given up, and if there has been none.
  T* find(std::uint64_t number) noexcept {
    auto* in = block_of(number);
    if (in == nullptr || !in->things[number % block_size])
      return nullptr;
    return &*in->things[number % block_size];
  }

  /// There must be one.
  void erase(std::uint64_t number) noexcept {
    auto* in = block_of(number);
    in->things[number % block_size].reset();
    --size_;
    if (--in->kept > 0 || number / block_size == end_ / block_size)
      return; // the last block fills up first
    blocks_[number / block_size - first_block_].reset();
    while (!blocks_.empty() && !blocks_.front()) {
      blocks_.pop_front();
      ++first_block_;
    }
  }

  /// All below are given up.
  std::uint64_t begin() const noexcept { return first_block_ * block_size; }
  /// The number that the next one gets.
  std::uint64_t end() const noexcept { return end_; }
  /// Those that are not given up.
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// With number and thing, in their order; what it is called for may be given up by it.
  template <class F>
  void for_each(F&& f) {
    const auto end = end_;
    for (auto number = first_block_ * block_size; number < end; ++number) {
      if (block_of(number) == nullptr)
        number |= block_size - 1;
      else if (auto* its = find(number))
        f(number, *its);
    }
  }

private:
  static constexpr std::uint64_t block_size = 128;
  struct block {
    std::array<std::optional<T>, block_size> things;
    std::size_t kept = 0;
  };

  block* block_of(std::uint64_t number) noexcept {
    if (number >= end_ || number / block_size < first_block_)
      return nullptr;
    return blocks_[number / block_size - first_block_].get();
  }

  std::deque<std::unique_ptr<block>> blocks_;
  std::uint64_t first_block_ = 0; // its number is this
  std::uint64_t end_ = 0;
  std::size_t size_ = 0;
};

} // namespace pubsub::pattern
