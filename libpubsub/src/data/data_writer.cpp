// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/data_writer.hpp>

#include "base/bytes.hpp"
#include "data/binary.hpp"
#include "data/real_bits.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace pubsub {

namespace {

std::byte* store_tag(std::byte* out, data_type type) noexcept {
  *out++ = static_cast<std::byte>(type);
  return out;
}

} // namespace

inline std::byte* data_writer::grow(std::size_t size_bytes) {
  const auto end = used_ + size_bytes;
  if (end > bytes_.size()) [[unlikely]]
    make_room(end);
  return bytes_.data() + std::exchange(used_, end);
}

/// For so many bytes, and a page more: memory far behind them is not touched.
void data_writer::make_room(std::size_t size_bytes) {
  constexpr std::size_t ahead = 4096;
  if (size_bytes > bytes_.capacity())
    bytes_.reserve(std::max(size_bytes, 2 * bytes_.capacity()));
  bytes_.resize(std::min(bytes_.capacity(), size_bytes + ahead));
}

void data_writer::write_none() {
  store_tag(grow(1), data_type::none);
}

void data_writer::write_boolean(bool x) {
  store_be(store_tag(grow(2), data_type::boolean), static_cast<std::uint8_t>(x));
}

void data_writer::write_count(std::uint64_t x) {
  store_be(store_tag(grow(9), data_type::count), x);
}

void data_writer::write_integer(std::int64_t x) {
  store_be(store_tag(grow(9), data_type::integer), x);
}

void data_writer::write_real(double x) {
  store_be(store_tag(grow(9), data_type::real), encode_real(x));
}

void data_writer::write_string(std::string_view x) {
  write_text(data_type::string, x);
}

std::span<std::byte> data_writer::write_blank_string(std::size_t size_bytes) {
  const std::span blank{begin_text(data_type::string, size_bytes), size_bytes};
  std::ranges::fill(blank, std::byte{0});
  return blank;
}

void data_writer::write_address(const address& x) {
  store_bytes(store_tag(grow(17), data_type::address), x.bytes().data(), address::size_bytes);
}

void data_writer::write_subnet(const subnet& x) {
  auto* out = store_tag(grow(18), data_type::subnet);
  store_be(store_bytes(out, x.network().bytes().data(), address::size_bytes), x.raw_length());
}

void data_writer::write_port(port x) {
  auto* out = store_be(store_tag(grow(4), data_type::port), x.number());
  store_be(out, static_cast<std::uint8_t>(x.protocol()));
}

void data_writer::write_timestamp(timestamp x) {
  store_be(store_tag(grow(9), data_type::timestamp), x.time_since_epoch().count());
}

void data_writer::write_timespan(timespan x) {
  store_be(store_tag(grow(9), data_type::timespan), x.count());
}

void data_writer::write_enum(std::string_view name) {
  write_text(data_type::enum_value, name);
}

void data_writer::begin_set(std::size_t n) {
  begin(data_type::set, n);
}

void data_writer::begin_table(std::size_t n) {
  begin(data_type::table, n);
}

void data_writer::begin_vector(std::size_t n) {
  begin(data_type::vector, n);
}

void data_writer::write(const data& x) {
  const auto size = encoded_size(x);
  assert(size != not_encodable);
  encode(x, grow(size));
}

void data_writer::write_encoded(std::span<const std::byte> value) {
  store_bytes(grow(value.size()), value.data(), value.size());
}

void data_writer::truncate(std::size_t size_bytes) noexcept {
  used_ = std::min(size_bytes, used_);
}

std::vector<std::byte> data_writer::take() noexcept {
  bytes_.resize(std::exchange(used_, 0));
  return std::exchange(bytes_, {});
}

/// The text follows: room for it is there.
std::byte* data_writer::begin_text(data_type type, std::size_t size_bytes) {
  assert(size_bytes <= UINT32_MAX);
  const auto size = static_cast<std::uint32_t>(size_bytes);
  return store_varbyte(store_tag(grow(1 + varbyte_size(size) + size_bytes), type), size);
}

void data_writer::write_text(data_type type, std::string_view x) {
  store_bytes(begin_text(type, x.size()), x.data(), x.size());
}

void data_writer::begin(data_type type, std::size_t n) {
  assert(n <= UINT32_MAX);
  const auto size = static_cast<std::uint32_t>(n);
  if (size < 0x80) [[likely]] {
    auto* out = store_tag(grow(2), type);
    *out = static_cast<std::byte>(size);
  } else {
    store_varbyte(store_tag(grow(1 + varbyte_size(size)), type), size);
  }
}

} // namespace pubsub
