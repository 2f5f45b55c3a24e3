// SPDX-License-Identifier: BSD-3-Clause
#include "broker/conversion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace pubsub::broker {

namespace {

// Deeper values reach no consumer of this library, and no input can exhaust the stack.
constexpr std::uint32_t max_depth = decode_limits{}.max_depth;
constexpr std::size_t max_size = std::numeric_limits<std::uint32_t>::max();

address to_address(const ::broker::address& x) {
  address::bytes_type bytes;
  std::ranges::copy(x.bytes(), bytes.begin());
  return address{bytes};
}

::broker::address to_broker_address(const address& x) {
  ::broker::address result;
  std::ranges::copy(x.bytes(), result.bytes().begin());
  return result;
}

/// Writes a value of Broker member by member; both sides order sets and tables in the same way.
class encoder {
public:
  explicit encoder(data_writer& out) : out_(out) {}

  bool write(const ::broker::data& x) {
    return ::caf::visit([this](const auto& each) { return write_one(each); }, x.get_data());
  }
  /// Whether something was written that may be the same as another value only when encoded.
  bool has_doubtful_key() const noexcept { return doubtful_key_; }

private:
  bool write_one(::broker::none) { return out_.write_none(), true; }
  bool write_one(bool x) { return out_.write_boolean(x), true; }
  bool write_one(::broker::count x) { return out_.write_count(x), true; }
  bool write_one(::broker::integer x) { return out_.write_integer(x), true; }
  bool write_one(::broker::real x) {
    const auto kind = std::fpclassify(x);
    doubtful_key_ = doubtful_key_ || (in_keys_ && kind != FP_NORMAL && kind != FP_INFINITE);
    return out_.write_real(x), true;
  }
  bool write_one(const std::string& x) {
    return x.size() <= max_size && (out_.write_string(x), true);
  }
  bool write_one(const ::broker::address& x) { return out_.write_address(to_address(x)), true; }
  bool write_one(const ::broker::subnet& x) {
    const auto network = to_address(x.network());
    const auto bits = static_cast<unsigned>(x.length()) + (network.is_v4() ? 96U : 0U);
    return bits <= 128 &&
           (out_.write_subnet(subnet::from_raw(network, static_cast<std::uint8_t>(bits))), true);
  }
  bool write_one(const ::broker::port& x) {
    const auto protocol = static_cast<std::uint8_t>(x.type());
    return protocol <= static_cast<std::uint8_t>(transport::icmp) &&
           (out_.write_port({x.number(), static_cast<transport>(protocol)}), true);
  }
  bool write_one(::broker::timestamp x) {
    return out_.write_timestamp(timestamp{timespan{x.time_since_epoch().count()}}), true;
  }
  bool write_one(::broker::timespan x) { return out_.write_timespan(timespan{x.count()}), true; }
  bool write_one(const ::broker::enum_value& x) {
    return x.name.size() <= max_size && (out_.write_enum(x.name), true);
  }
  bool write_one(const ::broker::set& x) {
    return nested(x.size(), [&] {
      out_.begin_set(x.size());
      return std::ranges::all_of(x, [this](const auto& each) { return write_key(each); });
    });
  }
  bool write_one(const ::broker::table& x) {
    return nested(x.size(), [&] {
      out_.begin_table(x.size());
      return std::ranges::all_of(
          x, [this](const auto& each) { return write_key(each.first) && write(each.second); });
    });
  }
  bool write_one(const ::broker::vector& x) {
    return nested(x.size(), [&] {
      out_.begin_vector(x.size());
      return std::ranges::all_of(x, [this](const auto& each) { return write(each); });
    });
  }

  bool write_key(const ::broker::data& x) {
    const bool outer = std::exchange(in_keys_, true);
    const bool written = write(x);
    in_keys_ = outer;
    return written;
  }
  template <class WriteMembers>
  bool nested(std::size_t size, WriteMembers write_members) {
    if (depth_ == max_depth || size > max_size)
      return false;
    ++depth_;
    const bool written = write_members();
    --depth_;
    return written;
  }

  data_writer& out_;
  std::uint32_t depth_ = 0; // containers around the value at hand
  bool in_keys_ = false;
  bool doubtful_key_ = false;
};

/// Builds a value of Broker; false where there is none like it.
class builder {
public:
  bool build(const data_view& x, ::broker::data& to) {
    switch (x.type()) {
    case data_type::none:
      return to = ::broker::data{}, true;
    case data_type::boolean:
      return to = x.as_boolean(), true;
    case data_type::count:
      return to = ::broker::count{x.as_count()}, true;
    case data_type::integer:
      return to = ::broker::integer{x.as_integer()}, true;
    case data_type::real:
      return to = ::broker::real{x.as_real()}, true;
    case data_type::string:
      return to = std::string{x.as_string()}, true;
    case data_type::address:
      return to = to_broker_address(x.as_address()), true;
    case data_type::subnet:
      return build_subnet(x.as_subnet(), to);
    case data_type::port:
      return build_port(x.as_port(), to);
    case data_type::timestamp:
      return to = ::broker::timestamp{::broker::timespan{x.as_timestamp().time_since_epoch()}},
             true;
    case data_type::timespan:
      return to = ::broker::timespan{x.as_timespan().count()}, true;
    case data_type::enum_value:
      return to = ::broker::enum_value{std::string{x.as_enum()}}, true;
    default:
      return depth_ < max_depth && build_container(x, to);
    }
  }

private:
  static bool build_subnet(const subnet& x, ::broker::data& to) {
    ::broker::subnet made{to_broker_address(x.network()), static_cast<std::uint8_t>(x.length())};
    const auto bits = made.length() + (x.network().is_v4() ? 96U : 0U);
    if (to_address(made.network()) != x.network() || bits != x.raw_length())
      return false;
    to = std::move(made);
    return true;
  }
  static bool build_port(port x, ::broker::data& to) {
    to = ::broker::port{x.number(), static_cast<::broker::port::protocol>(x.protocol())};
    return true;
  }
  bool build_container(const data_view& x, ::broker::data& to) {
    ++depth_;
    const bool built = x.type() == data_type::set     ? build_set(x, to)
                       : x.type() == data_type::table ? build_table(x, to)
                                                      : build_vector(x, to);
    --depth_;
    return built;
  }
  bool build_vector(const data_view& x, ::broker::data& to) {
    ::broker::vector result(x.size());
    auto next = result.begin();
    for (const auto each : x.elements())
      if (!build(each, *next++))
        return false;
    to = std::move(result);
    return true;
  }
  bool build_set(const data_view& x, ::broker::data& to) {
    ::broker::set result;
    for (const auto each : x.elements()) {
      ::broker::data member;
      if (!build(each, member))
        return false;
      result.insert(result.end(), std::move(member));
    }
    if (result.size() != x.size())
      return false; // NaN has no place in Broker's order
    to = std::move(result);
    return true;
  }
  bool build_table(const data_view& x, ::broker::data& to) {
    ::broker::table result;
    for (const auto& [key, value] : x.entries()) {
      ::broker::data their_key;
      ::broker::data their_value;
      if (!build(key, their_key) || !build(value, their_value))
        return false;
      result.emplace_hint(result.end(), std::move(their_key), std::move(their_value));
    }
    if (result.size() != x.size())
      return false;
    to = std::move(result);
    return true;
  }

  std::uint32_t depth_ = 0; // containers around the value at hand
};

} // namespace

bool encode(const ::broker::data& value, data_writer& out) {
  const auto before = out.size_bytes();
  encoder to{out};
  const bool written =
      to.write(value) && (!to.has_doubtful_key() || data_view::make(out.bytes().subspan(before)));
  if (!written)
    out.truncate(before);
  return written;
}

std::optional<::broker::data> broker_value(const data_view& value) {
  ::broker::data result;
  if (!builder{}.build(value, result))
    return {};
  return result;
}

} // namespace pubsub::broker
