// Records in the binary format of Zeek's threads.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/message.hpp>

#include "zeek/log_value_reader.hpp"
#include "zeek/type_tag.hpp"

#include <bit>
#include <cmath>
#include <utility>

namespace pubsub::zeek {

namespace {

constexpr std::uint32_t max_depth = 64;

} // namespace

bool log_value_reader::value(data& out) {
  return value(out, max_depth);
}

bool log_value_reader::value(data& out, std::uint32_t depth_left) {
  at_ = in_.offset();
  std::int32_t tag = 0;
  std::int32_t subtype = 0;
  std::uint8_t present = 0;
  if (!number(tag) || !number(subtype) || !number(present))
    return false;
  if (!is_type_tag(tag))
    return fail(errc::invalid_tag, "there is no type " + std::to_string(tag));
  return present != 1 || present_value(tag, out, depth_left);
}

bool log_value_reader::present_value(std::int32_t tag, data& out, std::uint32_t depth_left) {
  switch (static_cast<type_tag>(tag)) {
  case type_tag::boolean:
    return plain<boolean>(out);
  case type_tag::integer:
    return plain<integer>(out);
  case type_tag::count:
    return plain<count>(out);
  case type_tag::real:
    return plain<real>(out);
  case type_tag::time: {
    std::int64_t since_epoch = 0;
    return seconds(since_epoch) && (out = timestamp{timespan{since_epoch}}, true);
  }
  case type_tag::interval: {
    std::int64_t length = 0;
    return seconds(length) && (out = timespan{length}, true);
  }
  case type_tag::string:
  case type_tag::file:
  case type_tag::func: {
    std::string x;
    return text(x) && (out = std::move(x), true);
  }
  case type_tag::enumeration: {
    std::string x;
    return text(x) && (out = enum_value{std::move(x)}, true);
  }
  case type_tag::port:
    return read_port(out);
  case type_tag::address: {
    address x;
    return read_address(x) && (out = x, true);
  }
  case type_tag::subnet:
    return read_subnet(out);
  case type_tag::table:
    return read_set(out, depth_left);
  case type_tag::vector:
    return read_vector(out, depth_left);
  default:
    return fail(errc::not_supported,
                "logs cannot hold the type " + std::string{name_of(static_cast<type_tag>(tag))});
  }
}

template <class As>
bool log_value_reader::plain(data& out) {
  std::uint64_t bits = 0;
  if (!number(bits))
    return false;
  if constexpr (std::same_as<As, boolean>)
    out = bits != 0;
  else
    out = std::bit_cast<As>(bits);
  return true;
}

/// Whole seconds and their rest are each exact in a double; their product with 10^9 would not be.
bool log_value_reader::seconds(std::int64_t& nanoseconds) {
  constexpr double limit = 9'223'372'036.0; // what 64 bits of nanoseconds hold
  std::uint64_t bits = 0;
  if (!number(bits))
    return false;
  const auto x = std::bit_cast<double>(bits);
  if (!(x > -limit && x < limit))
    return bad("a time that does not fit into 64 bits of nanoseconds");
  const auto whole = std::floor(x);
  nanoseconds = static_cast<std::int64_t>(whole) * 1'000'000'000 +
                static_cast<std::int64_t>(std::round((x - whole) * 1e9));
  return true;
}

bool log_value_reader::text(std::string& out) {
  std::int32_t size = 0;
  std::span<const std::byte> body;
  if (!number(size))
    return false;
  if (size < 0)
    return bad("text of negative length");
  if (!in_.read_bytes(static_cast<std::size_t>(size), body))
    return ended();
  out.assign(reinterpret_cast<const char*>(body.data()), body.size());
  return true;
}

bool log_value_reader::read_port(data& out) {
  std::uint64_t port_number = 0;
  std::int32_t protocol = 0;
  if (!number(port_number) || !number(protocol))
    return false;
  if (port_number > 0xffff || protocol < 0 || protocol > 3)
    return bad("no port: " + std::to_string(port_number) + ", protocol " +
               std::to_string(protocol));
  out = port{static_cast<std::uint16_t>(port_number), static_cast<transport>(protocol)};
  return true;
}

bool log_value_reader::read_address(address& out) {
  std::uint8_t family = 0;
  if (!number(family))
    return false;
  if (family == 4) {
    std::uint32_t word = 0;
    if (!number(word))
      return false;
    out = address::v4(word);
    return true;
  }
  if (family != 6)
    return bad("an address of family " + std::to_string(family));
  std::span<const std::byte> bytes;
  if (!in_.read_bytes(address::size_bytes, bytes))
    return ended();
  address::bytes_type raw;
  std::memcpy(raw.data(), bytes.data(), raw.size());
  out = address{raw};
  return true;
}

/// The length is that of IPv6 also for IPv4, as it is in a subnet here.
bool log_value_reader::read_subnet(data& out) {
  std::uint8_t length = 0;
  address network;
  if (!number(length) || !read_address(network))
    return false;
  if (length > 128 || (network.is_v4() && length < 96))
    return bad("a subnet of length " + std::to_string(length));
  out = subnet::from_raw(network, length);
  return true;
}

template <class Insert>
bool log_value_reader::members(std::uint32_t depth_left, Insert insert) {
  std::int64_t size = 0;
  if (!number(size))
    return false;
  if (size < 0)
    return bad("a container of negative size");
  if (static_cast<std::uint64_t>(size) > in_.remaining() / min_value_bytes)
    return too_many(size, "members");
  if (depth_left == 0)
    return fail(errc::limit_exceeded, "containers nest too deep");
  for (; size > 0; --size) {
    data member;
    if (!value(member, depth_left - 1) || !insert(std::move(member)))
      return false;
  }
  return true;
}

bool log_value_reader::read_set(data& out, std::uint32_t depth_left) {
  set result;
  const bool complete = members(depth_left, [&](data member) {
    return result.insert(std::move(member)).second ||
           fail(errc::duplicate_key, "a member of a set occurs twice");
  });
  out = std::move(result);
  return complete;
}

bool log_value_reader::read_vector(data& out, std::uint32_t depth_left) {
  vector result;
  const bool complete = members(depth_left, [&](data member) {
    result.push_back(std::move(member));
    return true;
  });
  out = std::move(result);
  return complete;
}

expected<vector> parse_log_values(std::span<const std::byte> serialized) {
  log_value_reader in{serialized};
  vector result;
  std::size_t column = 0;
  const auto read_record = [&] {
    std::int32_t columns = 0;
    if (!in.number(columns))
      return false;
    if (columns < 0)
      return in.bad("a negative number of columns");
    if (static_cast<std::size_t>(columns) > in.remaining() / log_value_reader::min_value_bytes)
      return in.too_many(columns, "columns");
    result.resize(static_cast<std::size_t>(columns));
    for (; column < result.size(); ++column)
      if (!in.value(result[column]))
        return false;
    return in.finish("the last column");
  };
  if (!read_record())
    return in.failure("column " + std::to_string(column));
  return result;
}

expected<vector> parse_log_values(std::string_view serialized) {
  return parse_log_values(std::as_bytes(std::span{serialized}));
}

} // namespace pubsub::zeek
