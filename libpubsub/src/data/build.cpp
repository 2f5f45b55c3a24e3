// From encoded bytes to the tree.
// SPDX-License-Identifier: BSD-3-Clause
#include "base/bytes.hpp"
#include "data/encoded.hpp"
#include "data/real_bits.hpp"

#include <pubsub/data_view.hpp>

namespace pubsub {

namespace {

// Reads one valid value after the other; nesting is bounded by what validation accepted.
class builder {
public:
  explicit builder(const std::byte* pos) noexcept : pos_(pos) {}

  data value();

private:
  /// Hands the next value, in the type it has, to `make` and returns the result: containers build
  /// their members in place, as moving one costs as much as reading it.
  template <class Make>
  auto hand(Make make);

  template <class T>
  T number() noexcept {
    const auto x = load_be<T>(pos_);
    pos_ += sizeof(T);
    return x;
  }

  std::string read_string() {
    const auto size = load_valid_varbyte(pos_);
    const auto* first = reinterpret_cast<const char*>(pos_);
    pos_ += size;
    return {first, size};
  }

  address read_address() noexcept {
    address::bytes_type bytes;
    std::memcpy(bytes.data(), pos_, bytes.size());
    pos_ += bytes.size();
    return address{bytes};
  }

  vector read_vector();
  set read_set();
  table read_table();

  const std::byte* pos_;
};

template <class Make>
auto builder::hand(Make make) {
  switch (tag_at(pos_++)) {
  case data_type::none:
    break;
  case data_type::boolean:
    return make(number<std::uint8_t>() != 0);
  case data_type::count:
    return make(number<std::uint64_t>());
  case data_type::integer:
    return make(number<std::int64_t>());
  case data_type::real:
    return make(decode_real(number<std::uint64_t>()));
  case data_type::string:
    return make(read_string());
  case data_type::address:
    return make(read_address());
  case data_type::subnet: {
    const auto network = read_address();
    return make(subnet::from_raw(network, number<std::uint8_t>()));
  }
  case data_type::port: {
    const auto port_number = number<std::uint16_t>();
    return make(port{port_number, static_cast<transport>(number<std::uint8_t>())});
  }
  case data_type::timestamp:
    return make(timestamp{timespan{number<std::int64_t>()}});
  case data_type::timespan:
    return make(timespan{number<std::int64_t>()});
  case data_type::enum_value:
    return make(enum_value{read_string()});
  case data_type::set:
    return make(read_set());
  case data_type::table:
    return make(read_table());
  case data_type::vector:
    return make(read_vector());
  }
  return make(none{});
}

data builder::value() {
  return hand([](auto x) { return data{std::move(x)}; });
}

vector builder::read_vector() {
  const auto size = load_valid_varbyte(pos_);
  vector members;
  members.reserve(size);
  for (auto left = size; left > 0; --left)
    hand([&](auto x) { members.emplace_back(std::move(x)); });
  return members;
}

// Members arrive in order from every encoder we know of: the hint makes insertion constant time.
set builder::read_set() {
  set members;
  for (auto left = load_valid_varbyte(pos_); left > 0; --left)
    hand([&](auto x) { members.emplace_hint(members.end(), std::move(x)); });
  return members;
}

table builder::read_table() {
  table pairs;
  for (auto left = load_valid_varbyte(pos_); left > 0; --left) {
    auto key = value();
    hand([&](auto x) { pairs.emplace_hint(pairs.end(), std::move(key), std::move(x)); });
  }
  return pairs;
}

} // namespace

data data_view::to_data() const {
  return builder{pos_}.value();
}

} // namespace pubsub
