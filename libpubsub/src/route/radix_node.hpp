// What a radix tree is made of. Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/intrusive_ptr.hpp"

namespace pubsub {

/// One heap block: this header, then, in a leaf, its value and its label; in an inner node its
/// label, the first bytes of the labels below, ascending, and the nodes below in the same order. A
/// search touches little more than a cache line a node. All but the pointers to nodes below is
/// immutable, so a change of shape makes another node. Thread-safety: only the holder of the one
/// reference may change a node.
template <class T>
class radix_node {
public:
  using pointer = intrusive_ptr<radix_node>;

  static pointer make_leaf(std::string_view label, T value);
  /// `second` may be null.
  static pointer make_inner(std::string_view label, pointer first, pointer second);

  // What follows makes a node from an inner node, or from any where it says so. If `old` is held
  // nowhere else, its nodes below move, and it is good for nothing but to be destroyed.
  /// Any node.
  static pointer relabelled(const pointer& old, std::string_view label);
  static pointer with(const pointer& old, pointer added) {
    return reshaped(old, old->label(), no_position, std::move(added));
  }
  static pointer without(const pointer& old, char first) {
    return reshaped(old, old->label(), old->position(first), {});
  }
  /// Of two nodes below the one that stays, in the place of `old`.
  static pointer joined_without(const pointer& old, char first);
  /// The node at `place`, to be changed: a copy if it is held elsewhere too.
  static radix_node& own(pointer& place) {
    if (!place->is_unique())
      place = reshaped(place, place->label(), no_position, {});
    return *place;
  }

  bool is_leaf() const noexcept { return size_ == 0; }
  /// How many nodes are below.
  std::size_t size() const noexcept { return size_; }
  std::string_view label() const noexcept {
    return {bytes() + (is_leaf() ? sizeof(T) : 0), label_size_};
  }
  const T& value() const noexcept { return *std::launder(reinterpret_cast<const T*>(bytes())); }
  std::span<const pointer> below() const noexcept { return {pointers(), size_}; }
  /// The node below whose label begins with `first`, or null.
  const radix_node* find(char first) const noexcept {
    const auto at = position(first);
    return at == no_position ? nullptr : pointers()[at].get();
  }
  pointer* place_of(char first) noexcept { return pointers() + position(first); }

  void acquire() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;

private:
  static constexpr auto no_position = std::string_view::npos;

  radix_node(std::size_t label_size, std::size_t size)
      : label_size_(static_cast<std::uint32_t>(label_size)),
        size_(static_cast<std::uint32_t>(size)) {}
  static pointer allocate(std::size_t extra_bytes, std::size_t label_size, std::size_t size) {
    static_assert(alignof(T) <= alignof(radix_node) && sizeof(radix_node) % alignof(T) == 0);
    void* block = ::operator new(sizeof(radix_node) + extra_bytes);
    return pointer::adopt(new (block) radix_node(label_size, size));
  }
  static pointer allocate_inner(std::string_view label, std::size_t size);
  static pointer reshaped(const pointer& old, std::string_view label, std::size_t gone,
                          pointer added);
  static void destroy(radix_node* x) noexcept;

  bool is_unique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }
  bool drop_reference() noexcept {
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
  const char* bytes() const noexcept { return reinterpret_cast<const char*>(this + 1); }
  std::string_view firsts() const noexcept { return {bytes() + label_size_, size_}; }
  std::size_t position(char first) const noexcept { return firsts().find(first); }
  static std::size_t pointers_offset(std::size_t label_size, std::size_t size) noexcept {
    return (label_size + size + alignof(pointer) - 1) / alignof(pointer) * alignof(pointer);
  }
  pointer* pointers() noexcept {
    return reinterpret_cast<pointer*>(bytes() + pointers_offset(label_size_, size_));
  }
  const pointer* pointers() const noexcept {
    return reinterpret_cast<const pointer*>(bytes() + pointers_offset(label_size_, size_));
  }

  std::atomic<std::uintptr_t> references_{1}; // once there are none: the next node to destroy
  const std::uint32_t label_size_;
  const std::uint32_t size_; // nodes below; none in a leaf
};

template <class T>
auto radix_node<T>::make_leaf(std::string_view label, T value) -> pointer {
  auto result = allocate(sizeof(T) + label.size(), label.size(), 0);
  new (result->bytes()) T(std::move(value));
  label.copy(result->bytes() + sizeof(T), label.size());
  return result;
}

template <class T>
auto radix_node<T>::allocate_inner(std::string_view label, std::size_t size) -> pointer {
  const auto offset = pointers_offset(label.size(), size);
  auto result = allocate(offset + size * sizeof(pointer), label.size(), size);
  label.copy(result->bytes(), label.size());
  std::uninitialized_default_construct_n(result->pointers(), size);
  return result;
}

template <class T>
auto radix_node<T>::make_inner(std::string_view label, pointer first, pointer second) -> pointer {
  auto result = allocate_inner(label, second ? 2 : 1);
  auto byte_of = [](const pointer& x) { return static_cast<unsigned char>(x->label().front()); };
  if (second && byte_of(second) < byte_of(first))
    std::swap(first, second);
  auto* bytes = result->bytes() + label.size();
  for (auto* each : {&first, &second})
    if (*each) {
      const auto at = each == &first ? 0 : 1;
      bytes[at] = (*each)->label().front();
      result->pointers()[at] = std::move(*each);
    }
  return result;
}

/// `old`, an inner node, with another label, without the node below at `gone` and with `added`.
template <class T>
auto radix_node<T>::reshaped(const pointer& old, std::string_view label, std::size_t gone,
                             pointer added) -> pointer {
  const auto size = old->size() + (added ? 1 : 0) - (gone == no_position ? 0 : 1);
  auto result = allocate_inner(label, size);
  auto* first = result->bytes() + label.size();
  auto* to = result->pointers();
  auto append = [&](char byte, pointer x) {
    *first++ = byte;
    *to++ = std::move(x);
  };
  const bool moves = old->is_unique();
  for (std::size_t i = 0; i < old->size(); ++i) {
    const char byte = old->firsts()[i];
    if (added &&
        static_cast<unsigned char>(added->label().front()) < static_cast<unsigned char>(byte)) {
      const char before = added->label().front();
      append(before, std::move(added));
    }
    if (i != gone)
      append(byte, moves ? std::move(old->pointers()[i]) : old->pointers()[i]);
  }
  if (added) {
    const char last = added->label().front();
    append(last, std::move(added));
  }
  return result;
}

template <class T>
auto radix_node<T>::relabelled(const pointer& old, std::string_view label) -> pointer {
  return old->is_leaf() ? make_leaf(label, old->value()) : reshaped(old, label, no_position, {});
}

template <class T>
auto radix_node<T>::joined_without(const pointer& old, char first) -> pointer {
  const auto& kept = old->below()[old->position(first) == 0 ? 1 : 0];
  std::string label{old->label()};
  label += kept->label();
  if (old->is_unique()) // or what is below is held by others too, though by one node only
    return relabelled(kept, label);
  const auto shared = kept;
  return relabelled(shared, label);
}

template <class T>
void radix_node<T>::destroy(radix_node* x) noexcept {
  if (x->is_leaf())
    std::launder(reinterpret_cast<T*>(x->bytes()))->~T();
  ::operator delete(x); // its pointers are null by now
}

/// Without recursion: a tree can be as deep as its longest key.
template <class T>
void radix_node<T>::release() noexcept {
  if (!drop_reference())
    return;
  auto* next = this;
  next->references_.store(0, std::memory_order_relaxed);
  while (next != nullptr) {
    auto* dead = next;
    next = reinterpret_cast<radix_node*>(dead->references_.load(std::memory_order_relaxed));
    for (std::size_t i = 0; i < dead->size(); ++i) {
      auto* child = dead->pointers()[i].detach();
      if (child == nullptr || !child->drop_reference())
        continue;
      child->references_.store(reinterpret_cast<std::uintptr_t>(next), std::memory_order_relaxed);
      next = child;
    }
    destroy(dead);
  }
}

} // namespace pubsub
