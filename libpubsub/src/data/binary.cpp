// SPDX-License-Identifier: BSD-3-Clause
#include "data/binary.hpp"

#include "base/bytes.hpp"
#include "data/encoded.hpp"
#include "data/real_bits.hpp"

#include <pubsub/binary.hpp>

namespace pubsub {

namespace {

constexpr std::size_t max_elements = std::numeric_limits<std::uint32_t>::max();

class sizer {
public:
  void add(const data& x) noexcept {
    const auto type = x.type();
    const auto fixed = body_size[static_cast<std::uint8_t>(type)];
    ++total_;
    if (fixed != variable_size) {
      total_ += fixed;
      return;
    }
    add_variable(type, x);
  }

  std::size_t result() const noexcept { return fits_ ? total_ : not_encodable; }

private:
  void length(std::size_t n) noexcept {
    fits_ = fits_ && n <= max_elements;
    total_ += varbyte_size(static_cast<std::uint32_t>(n));
  }

  void text(const std::string& x) noexcept {
    length(x.size());
    total_ += x.size();
  }

  void members(const auto& x) noexcept {
    length(x.size());
    for (const auto& member : x)
      add(member);
  }

  void add_variable(data_type type, const data& x) noexcept {
    switch (type) {
    case data_type::string:
      return text(*x.get_if<std::string>());
    case data_type::enum_value:
      return text(x.get_if<enum_value>()->name());
    case data_type::vector:
      return members(*x.get_if<vector>());
    case data_type::set:
      return members(*x.get_if<set>());
    default:
      break;
    }
    const auto& pairs = *x.get_if<table>();
    length(pairs.size());
    for (const auto& [key, value] : pairs) {
      add(key);
      add(value);
    }
  }

  std::size_t total_ = 0;
  bool fits_ = true;
};

std::byte* put_string(std::byte* out, const std::string& x) noexcept {
  out = store_varbyte(out, static_cast<std::uint32_t>(x.size()));
  return store_bytes(out, x.data(), x.size());
}

std::byte* put_address(std::byte* out, const address& x) noexcept {
  return store_bytes(out, x.bytes().data(), address::size_bytes);
}

std::byte* put_members(std::byte* out, const auto& members) noexcept {
  out = store_varbyte(out, static_cast<std::uint32_t>(members.size()));
  for (const auto& member : members)
    out = encode(member, out);
  return out;
}

std::byte* put_table(std::byte* out, const table& pairs) noexcept {
  out = store_varbyte(out, static_cast<std::uint32_t>(pairs.size()));
  for (const auto& [key, value] : pairs)
    out = encode(value, encode(key, out));
  return out;
}

} // namespace

std::size_t encoded_size(const data& x) noexcept {
  sizer size;
  size.add(x);
  return size.result();
}

std::byte* encode(const data& x, std::byte* out) noexcept {
  *out++ = static_cast<std::byte>(x.type());
  switch (x.type()) {
  case data_type::none:
    return out;
  case data_type::boolean:
    return store_be(out, static_cast<std::uint8_t>(*x.get_if<boolean>()));
  case data_type::count:
    return store_be(out, *x.get_if<count>());
  case data_type::integer:
    return store_be(out, *x.get_if<integer>());
  case data_type::real:
    return store_be(out, encode_real(*x.get_if<real>()));
  case data_type::string:
    return put_string(out, *x.get_if<std::string>());
  case data_type::address:
    return put_address(out, *x.get_if<address>());
  case data_type::subnet: {
    const auto& prefix = *x.get_if<subnet>();
    return store_be(put_address(out, prefix.network()), prefix.raw_length());
  }
  case data_type::port: {
    const auto& number = *x.get_if<port>();
    return store_be(store_be(out, number.number()), static_cast<std::uint8_t>(number.protocol()));
  }
  case data_type::timestamp:
    return store_be(out, x.get_if<timestamp>()->time_since_epoch().count());
  case data_type::timespan:
    return store_be(out, x.get_if<timespan>()->count());
  case data_type::enum_value:
    return put_string(out, x.get_if<enum_value>()->name());
  case data_type::set:
    return put_members(out, *x.get_if<set>());
  case data_type::table:
    return put_table(out, *x.get_if<table>());
  case data_type::vector:
    return put_members(out, *x.get_if<vector>());
  }
  return out;
}

expected<void> encode_binary(const data& x, std::vector<std::byte>& out) {
  const auto size = encoded_size(x);
  if (size == not_encodable)
    return error{errc::limit_exceeded, "a string or container of 2^32 or more elements"};
  const auto before = out.size();
  out.resize(before + size);
  encode(x, out.data() + before);
  return {};
}

expected<std::vector<std::byte>> encode_binary(const data& x) {
  std::vector<std::byte> out;
  if (auto done = encode_binary(x, out); !done)
    return done.error();
  return out;
}

expected<data> decode_binary(std::span<const std::byte> bytes, const decode_limits& limits) {
  const auto view = data_view::make(bytes, limits);
  if (!view)
    return view.error();
  return view->to_data();
}

} // namespace pubsub
