// A pointer that owns one reference of a class with acquire() and release().
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

namespace pubsub {

template <class T>
class intrusive_ptr {
public:
  intrusive_ptr() noexcept = default;
  /// Takes over a reference the caller already holds.
  static intrusive_ptr adopt(T* object) noexcept {
    intrusive_ptr result;
    result.object_ = object;
    return result;
  }
  /// Adds a reference.
  static intrusive_ptr share(T* object) noexcept {
    if (object != nullptr)
      object->acquire();
    return adopt(object);
  }
  intrusive_ptr(const intrusive_ptr& other) noexcept : intrusive_ptr(share(other.object_)) {}
  intrusive_ptr(intrusive_ptr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~intrusive_ptr() {
    if (object_ != nullptr)
      object_->release();
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  /// Hands the reference to the caller.
  T* detach() noexcept { return std::exchange(object_, nullptr); }

private:
  T* object_ = nullptr;
};

} // namespace pubsub
