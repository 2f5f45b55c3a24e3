// From encoded bytes to the tree.
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

  data read_vector();
  data read_set();
  data read_table();

  const std::byte* pos_;
};

data builder::read_vector() {
  const auto size = load_valid_varbyte(pos_);
  vector members;
  members.reserve(size);
  for (auto left = size; left > 0; --left)
    members.push_back(value());
  return members;
}

// Members arrive in order from every encoder we know of: the hint makes insertion constant time.
data builder::read_set() {
  set members;
  for (auto left = load_valid_varbyte(pos_); left > 0; --left)
    members.insert(members.end(), value());
  return members;
}

data builder::read_table() {
  table pairs;
  for (auto left = load_valid_varbyte(pos_); left > 0; --left) {
    auto key = value();
    pairs.emplace_hint(pairs.end(), std::move(key), value());
  }
  return pairs;
}

data builder::value() {
  switch (tag_at(pos_++)) {
  case data_type::none:
    break;
  case data_type::boolean:
    return number<std::uint8_t>() != 0;
  case data_type::count:
    return number<std::uint64_t>();
  case data_type::integer:
    return number<std::int64_t>();
  case data_type::real:
    return decode_real(number<std::uint64_t>());
  case data_type::string:
    return read_string();
  case data_type::address:
    return read_address();
  case data_type::subnet: {
    const auto network = read_address();
    return subnet::from_raw(network, number<std::uint8_t>());
  }
  case data_type::port: {
    const auto port_number = number<std::uint16_t>();
    return port{port_number, static_cast<transport>(number<std::uint8_t>())};
  }
  case data_type::timestamp:
    return timestamp{timespan{number<std::int64_t>()}};
  case data_type::timespan:
    return timespan{number<std::int64_t>()};
  case data_type::enum_value:
    return enum_value{read_string()};
  case data_type::set:
    return read_set();
  case data_type::table:
    return read_table();
  case data_type::vector:
    return read_vector();
  }
  return none{};
}

} // namespace

data data_view::to_data() const {
  return builder{pos_}.value();
}

} // namespace pubsub
