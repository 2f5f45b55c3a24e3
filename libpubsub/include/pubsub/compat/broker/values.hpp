// Broker's value types: none, addresses, subnets, ports, enum values.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <pubsub/compat/broker/convert.hpp>
#include <pubsub/compat/broker/fwd.hpp>
#include <pubsub/compat/broker/time.hpp>
#include <pubsub/value/address.hpp>
#include <pubsub/value/port.hpp>
#include <pubsub/value/subnet.hpp>

namespace broker {
inline namespace over_pubsub {

/// The unit value.
struct none {
  friend constexpr auto operator<=>(none, none) = default;
  friend constexpr bool operator==(none, none) = default;
};
inline constexpr none nil{};

inline bool convert(none, std::string& to) {
  to = "nil";
  return true;
}

/// An IPv4 or IPv6 address: 16 bytes in network order, IPv4 mapped into IPv6.
class address {
public:
  static constexpr std::size_t num_bytes = 16;
  using array_type = std::array<std::uint8_t, num_bytes>;
  enum class family : std::uint8_t { ipv4, ipv6 };
  enum class byte_order : std::uint8_t { host, network };

  /// `::`.
  address() = default;
  explicit address(const pubsub::address& x) : bytes_(x.bytes()) {}
  /// From one word (IPv4) or four (IPv6), each in this byte order.
  address(const std::uint32_t* words, family fam, byte_order order) {
    const auto v4 = fam == family::ipv4;
    const auto first = v4 ? 12U : 0U;
    if (v4)
      bytes_[10] = bytes_[11] = 0xff;
    for (auto i = first; i < num_bytes; i += 4) {
      const auto word = words[(i - first) / 4];
      if (order == byte_order::network)
        std::memcpy(&bytes_[i], &word, 4);
      else
        for (auto byte = 0U; byte < 4; ++byte)
          bytes_[i + byte] = static_cast<std::uint8_t>(word >> (24 - 8 * byte));
    }
  }

  pubsub::address native() const { return pubsub::address{bytes_}; }
  /// Clears all but the first bits, counted in the 128-bit form. False if there are not so many.
  bool mask(std::uint8_t top_bits_to_keep) {
    if (top_bits_to_keep > 128)
      return false;
    auto masked = native();
    masked.mask(top_bits_to_keep);
    bytes_ = masked.bytes();
    return true;
  }
  /// Takes an address as text. False if it is none; then this one stays.
  bool convert_from(const std::string& text) {
    const auto parsed = pubsub::address::parse(text);
    if (parsed)
      bytes_ = parsed->bytes();
    return parsed.has_value();
  }
  void convert_to(std::string& text) const { text = pubsub::to_string(native()); }
  bool is_v4() const noexcept { return native().is_v4(); }
  bool is_v6() const noexcept { return !is_v4(); }
  array_type& bytes() noexcept { return bytes_; }
  const array_type& bytes() const noexcept { return bytes_; }

  friend auto operator<=>(const address&, const address&) = default;
  friend bool operator==(const address&, const address&) = default;

private:
  array_type bytes_{};
};

inline bool convert(const address& from, std::string& to) {
  from.convert_to(to);
  return true;
}
inline bool convert(const std::string& from, address& to) {
  return to.convert_from(from);
}

/// An address and a prefix length.
class subnet {
public:
  /// `::/0`.
  subnet() = default;
  explicit subnet(const pubsub::subnet& x) : network_(x.network()), raw_length_(x.raw_length()) {}
  /// `length` in bits of the address family; host bits are cleared. An over-long length gives
  /// `::/0`.
  subnet(const address& addr, std::uint8_t length)
      : subnet(pubsub::subnet{addr.native(), length}) {}

  pubsub::subnet native() const { return pubsub::subnet::from_raw(network_.native(), raw_length_); }
  bool contains(const address& x) const { return native().contains(x.native()); }
  const address& network() const { return network_; }
  /// In bits of the address family.
  std::uint8_t length() const { return static_cast<std::uint8_t>(native().length()); }
  /// In bits of the 128-bit form.
  std::uint8_t raw_len() const noexcept { return raw_length_; }

  friend auto operator<=>(const subnet&, const subnet&) = default;
  friend bool operator==(const subnet&, const subnet&) = default;

private:
  address network_;
  std::uint8_t raw_length_ = 0;
};

inline bool convert(const subnet& from, std::string& to) {
  to = pubsub::to_string(from.native());
  return true;
}
inline bool convert(const std::string& from, subnet& to) {
  const auto parsed = pubsub::subnet::parse(from);
  if (parsed)
    to = subnet{*parsed};
  return parsed.has_value();
}

/// A port number and its protocol.
class port {
public:
  using number_type = std::uint16_t;
  enum class protocol : std::uint8_t { unknown, tcp, udp, icmp };

  port() = default;
  port(number_type num, protocol p) : number_(num), protocol_(p) {}
  explicit port(pubsub::port x)
      : number_(x.number()), protocol_(static_cast<protocol>(x.protocol())) {}

  pubsub::port native() const { return {number_, static_cast<pubsub::transport>(protocol_)}; }
  number_type number() const { return number_; }
  protocol type() const { return protocol_; }

  friend auto operator<=>(const port&, const port&) = default;
  friend bool operator==(const port&, const port&) = default;

private:
  number_type number_ = 0;
  protocol protocol_ = protocol::unknown;
};

inline bool convert(const port& from, std::string& to) {
  to = pubsub::to_string(from.native());
  return true;
}
inline bool convert(const std::string& from, port& to) {
  const auto parsed = pubsub::port::parse(from);
  if (parsed)
    to = port{*parsed};
  return parsed.has_value();
}

/// A label of one of Zeek's enums.
struct enum_value {
  enum_value() = default;
  explicit enum_value(std::string label) : name(std::move(label)) {}

  std::string name;

  friend auto operator<=>(const enum_value&, const enum_value&) = default;
  friend bool operator==(const enum_value&, const enum_value&) = default;
};

inline bool convert(const enum_value& from, std::string& to) {
  to = from.name;
  return true;
}

namespace detail {

/// One hash from two.
inline void mix_hash(std::size_t& seed, std::size_t next) {
  seed ^= next + 0x9e37'79b9'7f4a'7c15U + (seed << 6) + (seed >> 2);
}

} // namespace detail

} // namespace over_pubsub
} // namespace broker

template <>
struct std::hash<broker::none> {
  std::size_t operator()(broker::none) const noexcept { return 0; }
};
template <>
struct std::hash<broker::address> {
  std::size_t operator()(const broker::address& x) const noexcept {
    const auto& bytes = x.bytes();
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
};
template <>
struct std::hash<broker::subnet> {
  std::size_t operator()(const broker::subnet& x) const noexcept {
    auto result = std::hash<broker::address>{}(x.network());
    broker::detail::mix_hash(result, x.raw_len());
    return result;
  }
};
template <>
struct std::hash<broker::port> {
  std::size_t operator()(const broker::port& x) const noexcept {
    return std::hash<std::uint32_t>{}(x.number() | static_cast<std::uint32_t>(x.type()) << 16);
  }
};
template <>
struct std::hash<broker::enum_value> {
  std::size_t operator()(const broker::enum_value& x) const noexcept {
    return std::hash<std::string>{}(x.name);
  }
};
