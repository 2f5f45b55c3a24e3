// The gate for bytes from outside: everything behind it may trust what it reads.
// SPDX-License-Identifier: BSD-3-Clause
#include "base/bytes.hpp"
#include "data/encoded.hpp"

#include <pubsub/data_view.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

namespace pubsub {

namespace {

// Reading recurses once per level of nesting; no setting may make that overflow the stack.
constexpr std::uint32_t hard_max_depth = 512;

// For each byte that could be a tag: the size of the body, where that is all there is to check.
constexpr std::uint8_t not_plain = 0xff;
constexpr auto plain_size = [] {
  std::array<std::uint8_t, 256> result{};
  result.fill(not_plain);
  for (std::uint8_t tag = 0; tag < body_size.size(); ++tag)
    if (body_size[tag] != variable_size && static_cast<data_type>(tag) != data_type::port)
      result[tag] = body_size[tag];
  return result;
}();

constexpr auto port_tag = static_cast<std::uint8_t>(data_type::port);
constexpr auto string_tag = static_cast<std::uint8_t>(data_type::string);
constexpr auto enum_tag = static_cast<std::uint8_t>(data_type::enum_value);

/// What ends the body of a port.
constexpr bool is_protocol(std::byte x) noexcept {
  return x <= std::byte{3};
}

/// Skips values as long as each is valid, and a scalar or a text of fewer than 128 bytes: at most
/// `count`, which becomes the number of those left.
inline const std::byte* skip_plain(const std::byte* pos, const std::byte* end,
                                   std::uint32_t& count) noexcept {
  for (; count > 0 && pos != end; --count) {
    const auto tag = static_cast<std::uint8_t>(*pos);
    const auto* behind = pos + 1;
    std::size_t size = plain_size[tag];
    if (size == not_plain) {
      if (tag == port_tag && end - behind >= 3 && is_protocol(behind[2]))
        size = body_size[port_tag];
      else if ((tag != string_tag && tag != enum_tag) || behind == end)
        break;
      else if (size = static_cast<std::uint8_t>(*behind++); size >= 0x80)
        break;
    }
    if (size > static_cast<std::size_t>(end - behind))
      break;
    pos = behind + size;
  }
  return pos;
}

class validator {
public:
  validator(std::span<const std::byte> bytes, const decode_limits& limits) noexcept
      : pos_(bytes.data()), end_(bytes.data() + bytes.size()), values_left_(limits.max_values),
        max_depth_(std::min(limits.max_depth, hard_max_depth)) {}

  bool run() {
    return take_values(1) && value(max_depth_) && (pos_ == end_ || fail(errc::invalid_data));
  }
  /// The same of a vector of `count` members, of which `left` begin at `pos`; those before are
  /// plain.
  bool run_on(const std::byte* pos, std::uint32_t count, std::uint32_t left) {
    pos_ = pos;
    return take_values(1 + std::uint64_t{count}) && vector_members(left, max_depth_ - 1) &&
           pos_ == end_;
  }

  errc code() const noexcept { return code_; }
  const std::byte* position() const noexcept { return pos_; }

private:
  bool fail(errc code) noexcept {
    code_ = code;
    return false;
  }

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - pos_); }

  bool take_values(std::uint64_t count) noexcept {
    if (count > values_left_)
      return fail(errc::limit_exceeded);
    values_left_ -= static_cast<std::uint32_t>(count);
    return true;
  }

  bool varbyte(std::uint32_t& out) noexcept {
    switch (load_varbyte(pos_, end_, out)) {
    case varbyte_result::ok:
      return true;
    case varbyte_result::truncated:
      return fail(errc::end_of_file);
    case varbyte_result::overflow:
      break;
    }
    return fail(errc::invalid_data);
  }

  bool string() noexcept {
    std::uint32_t size = 0;
    if (!varbyte(size))
      return false;
    if (size > left())
      return fail(errc::end_of_file);
    pos_ += size;
    return true;
  }

  bool port() noexcept {
    const auto size = body_size[port_tag];
    if (size > left())
      return fail(errc::end_of_file);
    if (!is_protocol(pos_[2]))
      return fail(errc::invalid_data);
    pos_ += size;
    return true;
  }

  // Inlined into each loop over members: most members are scalars, and the call would cost more.
  [[gnu::always_inline]] bool value(std::uint32_t depth_left);
  /// What has more to check than the size, or is no value.
  bool special(std::uint8_t tag, std::uint32_t depth_left);
  [[gnu::noinline]] bool container(data_type type, std::uint32_t depth_left);
  bool vector_members(std::uint32_t count, std::uint32_t depth_left);
  template <bool is_table>
  bool keys(std::uint32_t count, std::uint32_t depth_left);
  /// Fails if both keys are the same; notes whether the first one comes first.
  bool in_order(const std::byte* previous, const std::byte* current, bool& sorted) noexcept {
    const int order = compare_encoded(previous, current);
    sorted = order < 0;
    return order != 0 || fail(errc::duplicate_key);
  }
  bool keys_differ(const std::byte* first, std::uint32_t count, bool is_table, bool plain);

  const std::byte* pos_;
  const std::byte* end_;
  std::uint32_t values_left_;
  std::uint32_t max_depth_;
  errc code_ = errc::none;
  // Sets and tables met so far whose members were not in order.
  std::uint32_t unsorted_ = 0;
};

inline bool validator::value(std::uint32_t depth_left) {
  if (pos_ == end_)
    return fail(errc::end_of_file);
  const auto tag = static_cast<std::uint8_t>(*pos_);
  const std::size_t size = plain_size[tag];
  if (size == not_plain)
    return special(tag, depth_left);
  ++pos_;
  if (size > left())
    return fail(errc::end_of_file);
  pos_ += size;
  return true;
}

inline bool validator::special(std::uint8_t tag, std::uint32_t depth_left) {
  if (tag >= body_size.size())
    return fail(errc::invalid_tag);
  ++pos_;
  const auto type = static_cast<data_type>(tag);
  if (type == data_type::string || type == data_type::enum_value)
    return string();
  return type == data_type::port ? port() : container(type, depth_left);
}

bool validator::container(data_type type, std::uint32_t depth_left) {
  std::uint32_t count = 0;
  if (!varbyte(count))
    return false;
  // Each value takes a byte at least, so a claim beyond the bytes left is false.
  const std::uint64_t values = std::uint64_t{count} * (type == data_type::table ? 2 : 1);
  if (values > left())
    return fail(errc::end_of_file);
  if (depth_left == 0)
    return fail(errc::limit_exceeded);
  if (!take_values(values))
    return false;
  if (type == data_type::vector)
    return vector_members(count, depth_left - 1);
  return type == data_type::set ? keys<false>(count, depth_left - 1)
                                : keys<true>(count, depth_left - 1);
}

bool validator::vector_members(std::uint32_t count, std::uint32_t depth_left) {
  while (true) {
    pos_ = skip_plain(pos_, end_, count);
    if (count == 0)
      return true;
    if (!value(depth_left))
      return false;
    --count;
  }
}

/// The members of a set, or the keys of a table with their values.
template <bool is_table>
bool validator::keys(std::uint32_t count, std::uint32_t depth_left) {
  const auto* first = pos_;
  bool sorted = true;
  bool plain = true;
  const std::byte* previous = nullptr;
  for (auto left = count; left > 0; --left) {
    const auto* current = pos_;
    const auto unsorted_before = unsorted_;
    if (!value(depth_left))
      return false;
    plain = plain && unsorted_ == unsorted_before;
    if (is_table && !value(depth_left))
      return false;
    if (previous != nullptr && sorted && !in_order(previous, current, sorted))
      return false;
    previous = current;
  }
  if (sorted && plain)
    return true;
  ++unsorted_;
  return keys_differ(first, count, is_table, plain);
}

// The slow path for members out of order. Where a key itself holds a container out of order
// (`plain` is false), its bytes do not tell its place and the key has to be built.
bool validator::keys_differ(const std::byte* first, std::uint32_t count, bool is_table,
                            bool plain) {
  const auto next = [is_table](const std::byte* key) {
    const auto* behind = skip_value(key);
    return is_table ? skip_value(behind) : behind;
  };
  if (!plain) {
    std::set<data> seen;
    for (const auto* key = first; count > 0; --count, key = next(key))
      if (!seen.insert(data_view::from_valid({key, pos_}).to_data()).second)
        return fail(errc::duplicate_key);
    return true;
  }
  std::vector<const std::byte*> keys;
  keys.reserve(count);
  for (const auto* key = first; count > 0; --count, key = next(key))
    keys.push_back(key);
  const auto compare = [](const std::byte* x, const std::byte* y) { return compare_encoded(x, y); };
  std::sort(keys.begin(), keys.end(), [&](auto x, auto y) { return compare(x, y) < 0; });
  const auto twin = std::adjacent_find(keys.begin(), keys.end(),
                                       [&](auto x, auto y) { return compare(x, y) == 0; });
  return twin == keys.end() || fail(errc::duplicate_key);
}

} // namespace

/// Most messages are short vectors of plain values, and need no more than a look at those.
bool is_encoded_value(std::span<const std::byte> bytes) {
  constexpr decode_limits limits;
  static_assert(limits.max_depth > 0);
  if (bytes.size() < 2 || tag_at(bytes.data()) != data_type::vector || bytes[1] >= std::byte{0x80})
    return validator{bytes, limits}.run();
  const auto* const end = bytes.data() + bytes.size();
  const auto members = static_cast<std::uint32_t>(bytes[1]);
  auto left = members;
  const auto* const pos = skip_plain(bytes.data() + 2, end, left);
  return left == 0 ? pos == end : validator{bytes, limits}.run_on(pos, members, left);
}

expected<data_view> data_view::make(std::span<const std::byte> bytes, const decode_limits& limits) {
  validator check{bytes, limits};
  if (check.run())
    return data_view{bytes.data()};
  return error{check.code(), "at byte " + std::to_string(check.position() - bytes.data())};
}

} // namespace pubsub
