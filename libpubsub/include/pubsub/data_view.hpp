// Reading encoded bytes in place, without building a tree (format bin::v1).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// What a decoder accepts at most; anything beyond gives `limit_exceeded`. (Broker itself
/// has no limit of depth.)
struct decode_limits {
  /// Nesting of containers; a scalar has depth 0. Values above 512 count as 512, so that no input
  /// can exhaust the stack.
  std::uint32_t max_depth = 64;
  /// Values in one message, containers and their members all counted.
  std::uint32_t max_values = 16'777'216;
};

/// A value inside encoded bytes. Never allocates; does not own the bytes, which must outlive it and
/// every view or string_view taken from it. Made only from bytes that `validate` has accepted, so
/// reading cannot fail; asking for another type than `type()` is a caller's bug (assert in debug,
/// a zero value otherwise).
class PUBSUB_EXPORT data_view {
public:
  class iterator;
  class table_iterator;
  struct range;
  struct table_range;

  /// Views `none`.
  constexpr data_view() = default;

  /// Checks that `bytes` hold exactly one value in bin::v1, within `limits` and without duplicate
  /// set members or table keys, and returns a view of it. Allocates only where a container is not
  /// in sorted order. Errors: end_of_file, invalid_tag, invalid_data, duplicate_key,
  /// limit_exceeded; the context names the byte offset.
  static expected<data_view> make(std::span<const std::byte> bytes,
                                  const decode_limits& limits = {});
  /// A view of bytes already accepted by `make`.
  static data_view from_valid(std::span<const std::byte> bytes) noexcept;

  data_type type() const noexcept { return static_cast<data_type>(*pos_); }

  bool as_boolean() const noexcept { return is(data_type::boolean) && *body() != std::byte{0}; }
  std::uint64_t as_count() const noexcept { return is(data_type::count) ? load_number(body()) : 0; }
  std::int64_t as_integer() const noexcept {
    return is(data_type::integer) ? load_signed(body()) : 0;
  }
  double as_real() const noexcept;
  std::string_view as_string() const noexcept {
    return is(data_type::string) ? load_string(body()) : std::string_view{};
  }
  address as_address() const noexcept;
  subnet as_subnet() const noexcept;
  port as_port() const noexcept;
  timestamp as_timestamp() const noexcept {
    return timestamp{timespan{is(data_type::timestamp) ? load_signed(body()) : 0}};
  }
  timespan as_timespan() const noexcept {
    return timespan{is(data_type::timespan) ? load_signed(body()) : 0};
  }
  /// The name of the enum label.
  std::string_view as_enum() const noexcept {
    return is(data_type::enum_value) ? load_string(body()) : std::string_view{};
  }
  /// Members of a set or vector, in encoded order; empty for other types.
  range elements() const noexcept;
  /// Pairs of a table, in encoded order; empty for other types.
  table_range entries() const noexcept;
  /// Members of a set or vector, pairs of a table; 0 for other types.
  std::size_t size() const noexcept;

  /// The encoded value, tag included. Walks the value to find its end: linear in its size.
  std::span<const std::byte> bytes() const noexcept;
  /// Builds the tree.
  data to_data() const;

private:
  friend class iterator;
  friend class table_iterator;
  explicit data_view(const std::byte* pos) noexcept : pos_(pos) {}

  const std::byte* body() const noexcept { return pos_ + 1; }
  bool is(data_type wanted) const noexcept {
    assert(type() == wanted);
    return type() == wanted;
  }

  static std::uint64_t load_number(const std::byte* pos) noexcept {
    std::uint64_t x = 0;
    std::memcpy(&x, pos, sizeof(x));
    return std::endian::native == std::endian::big ? x : __builtin_bswap64(x);
  }
  static std::int64_t load_signed(const std::byte* pos) noexcept {
    return static_cast<std::int64_t>(load_number(pos));
  }
  /// The size of a string or container; moves `pos` behind it.
  static std::uint32_t load_size(const std::byte*& pos) noexcept {
    const auto first = static_cast<std::uint8_t>(*pos);
    if (first >= 0x80)
      return load_long_size(pos);
    ++pos;
    return first;
  }
  static std::uint32_t load_long_size(const std::byte*& pos) noexcept;
  static std::string_view load_string(const std::byte* pos) noexcept {
    const auto size = load_size(pos);
    return {reinterpret_cast<const char*>(pos), size};
  }
  /// The position behind the value at `pos`.
  static const std::byte* behind(const std::byte* pos) noexcept;

  static constexpr std::byte none_tag[1] = {std::byte{0}};
  const std::byte* pos_ = none_tag;
};

/// Walks the members of a set or vector; advancing costs the size of the member passed.
class data_view::iterator {
public:
  using value_type = data_view;
  using difference_type = std::ptrdiff_t;

  iterator() = default;
  iterator(const std::byte* pos, std::size_t left) noexcept : pos_(pos), left_(left) {}
  data_view operator*() const noexcept { return data_view{pos_}; }
  iterator& operator++() noexcept {
    if (--left_ > 0) // what is behind the last member does not matter: do not look for it
      pos_ = behind(pos_);
    return *this;
  }
  iterator operator++(int) noexcept {
    auto old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const iterator& x, const iterator& y) noexcept {
    return x.left_ == y.left_;
  }

private:
  const std::byte* pos_ = nullptr;
  std::size_t left_ = 0;
};

/// Walks the pairs of a table.
class data_view::table_iterator {
public:
  struct value_type {
    data_view key;
    data_view value;
  };
  using difference_type = std::ptrdiff_t;

  table_iterator() = default;
  table_iterator(const std::byte* pos, std::size_t left) noexcept;
  value_type operator*() const noexcept { return {data_view{key_}, data_view{value_}}; }
  table_iterator& operator++() noexcept;
  table_iterator operator++(int) noexcept {
    auto old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const table_iterator& x, const table_iterator& y) noexcept {
    return x.left_ == y.left_;
  }

private:
  const std::byte* key_ = nullptr;
  const std::byte* value_ = nullptr;
  std::size_t left_ = 0;
};

struct data_view::range {
  iterator first;
  iterator begin() const noexcept { return first; }
  iterator end() const noexcept { return {}; }
};

struct data_view::table_range {
  table_iterator first;
  table_iterator begin() const noexcept { return first; }
  table_iterator end() const noexcept { return {}; }
};

inline data_view::range data_view::elements() const noexcept {
  if (type() != data_type::set && type() != data_type::vector)
    return {};
  const auto* pos = body();
  const auto members = load_size(pos);
  return {iterator{pos, members}};
}

inline data_view::table_range data_view::entries() const noexcept {
  if (type() != data_type::table)
    return {};
  const auto* pos = body();
  const auto pairs = load_size(pos);
  return {table_iterator{pos, pairs}};
}

} // namespace pubsub
