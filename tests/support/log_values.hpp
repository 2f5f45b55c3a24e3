// Writes what parse_log_values reads, in the type each value has by itself.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <string>
#include <type_traits>

#include <pubsub/data.hpp>

namespace pubsub::test {

/// A record as Zeek would send it. Tables and NaN cannot be in it.
class log_values_writer {
public:
  static std::string write(const vector& record) {
    log_values_writer out;
    out.be<std::int32_t>(static_cast<std::int32_t>(record.size()));
    for (const auto& each : record)
      out.value(each);
    return std::move(out.bytes_);
  }

private:
  template <class T>
  void be(T number) {
    auto bits = static_cast<std::make_unsigned_t<T>>(number);
    for (auto shift = 8 * static_cast<int>(sizeof(T)) - 8; shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<char>(bits >> shift));
  }
  void head(std::int32_t type, std::int32_t subtype = 22) {
    be(type);
    be(subtype);
    be<std::uint8_t>(1);
  }
  void text(const std::string& x) {
    be(static_cast<std::int32_t>(x.size()));
    bytes_ += x;
  }
  void seconds(std::int64_t nanoseconds) {
    constexpr std::int64_t second = 1'000'000'000;
    const auto x =
        static_cast<double>(nanoseconds / second) + static_cast<double>(nanoseconds % second) / 1e9;
    be(std::bit_cast<std::uint64_t>(x));
  }
  void ip(const address& x) {
    be<std::uint8_t>(x.is_v4() ? 4 : 6);
    for (std::size_t i = x.is_v4() ? 12 : 0; i < x.bytes().size(); ++i)
      be(x.bytes()[i]);
  }
  template <class Members>
  void members(std::int32_t type, const Members& all) {
    head(type, 13);
    be(static_cast<std::int64_t>(all.size()));
    for (const auto& each : all)
      value(each);
  }

  void value(const data& x) {
    std::visit([this](const auto& y) { put(y); }, x.variant());
  }
  void put(none) {
    be<std::int32_t>(22);
    be<std::int32_t>(22);
    be<std::uint8_t>(0);
  }
  void put(boolean x) {
    head(1);
    be<std::int64_t>(x ? 1 : 0);
  }
  void put(integer x) {
    head(2);
    be(x);
  }
  void put(count x) {
    head(3);
    be(x);
  }
  void put(real x) {
    head(4);
    be(std::bit_cast<std::uint64_t>(x));
  }
  void put(timestamp x) {
    head(5);
    seconds(x.time_since_epoch().count());
  }
  void put(timespan x) {
    head(6);
    seconds(x.count());
  }
  void put(const std::string& x) {
    head(7);
    text(x);
  }
  void put(const enum_value& x) {
    head(9);
    text(x.name());
  }
  void put(const port& x) {
    head(10);
    be<std::uint64_t>(x.number());
    be(static_cast<std::int32_t>(x.protocol()));
  }
  void put(const address& x) {
    head(11);
    ip(x);
  }
  void put(const subnet& x) {
    head(12);
    be(x.raw_length());
    ip(x.network());
  }
  void put(const set& x) { members(14, x); }
  void put(const vector& x) { members(19, x); }
  void put(const table&) {}

  std::string bytes_;
};

} // namespace pubsub::test
