// SPDX-License-Identifier: BSD-3-Clause
#include "filter/program.hpp"

#include <algorithm>
#include <array>

#include "base/bytes.hpp"
#include "data/encoded.hpp"
#include "data/real_bits.hpp"
#include "filter/sample_hash.hpp"

namespace pubsub {

using namespace conditions;

namespace {

condition_verdict from(bool x) noexcept {
  return x ? condition_verdict::yes : condition_verdict::no;
}

condition_verdict negation(condition_verdict x) noexcept {
  if (x == condition_verdict::yes || x == condition_verdict::no)
    return from(x == condition_verdict::no);
  return x;
}

/// `no` decides; otherwise what is not known does, before what is not there.
condition_verdict both(condition_verdict x, condition_verdict y) noexcept {
  for (const auto each :
       {condition_verdict::no, condition_verdict::unknown, condition_verdict::absent})
    if (x == each || y == each)
      return each;
  return condition_verdict::yes;
}

condition_verdict either(condition_verdict x, condition_verdict y) noexcept {
  return negation(both(negation(x), negation(y)));
}

/// One part of a topic, counted from 0; parts have slashes between them.
bool part_of(std::string_view topic, std::uint16_t number, std::string_view& out) noexcept {
  for (; number > 0; --number) {
    const auto slash = topic.find('/');
    if (slash == std::string_view::npos)
      return false;
    topic.remove_prefix(slash + 1);
  }
  out = topic.substr(0, topic.find('/'));
  return true;
}

condition_verdict in_order(comparison_kind kind, order how) noexcept {
  if (how == order::unordered)
    return condition_verdict::absent;
  switch (kind) {
  case comparison_kind::less:
    return from(how == order::less);
  case comparison_kind::less_equal:
    return from(how != order::greater);
  case comparison_kind::greater:
    return from(how == order::greater);
  default:
    return from(how != order::less);
  }
}

condition_verdict in_range(const scalar& x, const scalar& first, const scalar& last) noexcept {
  return both(in_order(comparison_kind::greater_equal, compare(x, first)),
              in_order(comparison_kind::less_equal, compare(x, last)));
}

condition_verdict matches(const other_pattern& pattern, const scalar& x) noexcept {
  switch (pattern.kind) {
  case pattern_kind::range:
    return in_range(x, pattern.first, pattern.last);
  case pattern_kind::within:
    return from(lies_within(x, pattern.first.raw));
  case pattern_kind::prefix:
    return from(x.text.starts_with(pattern.first.text));
  case pattern_kind::regex:
    return from(pattern.matcher->matches(x.text));
  case pattern_kind::equal:
    break;
  }
  return condition_verdict::no;
}

bool is_equal_to_one(const std::vector<scalar>& all, const scalar& x) noexcept {
  if (all.size() == 1)
    return compare(all.front(), x) == order::equal;
  const auto found = std::lower_bound(all.begin(), all.end(), x, sorts_before);
  return found != all.end() && compare(*found, x) == order::equal;
}

/// The value is of a kind that the test can compare.
condition_verdict compare_scalar(const compiled_test& test, const scalar& x) noexcept {
  if (test.kind == comparison_kind::equal || !test.equals.empty()) {
    if (test.kind != comparison_kind::equal && test.kind != comparison_kind::among &&
        test.kind != comparison_kind::holds)
      return in_order(test.kind, compare(x, test.equals.front()));
    if (is_equal_to_one(test.equals, x))
      return condition_verdict::yes;
  }
  auto result = condition_verdict::no;
  for (const auto& each : test.others) {
    result = either(result, matches(each, x));
    if (result == condition_verdict::yes)
      break;
  }
  return result;
}

/// Evaluates the tests of one message.
class judging {
public:
  judging(std::string_view topic, encoded_record& record,
          std::span<const column_place> places) noexcept
      : topic_(topic), record_(record), places_(places) {}

  condition_verdict run(const compiled_test& test) noexcept {
    scalar value;
    const std::byte* at = nullptr;
    auto there = find(test, value, at);
    if (test.kind == comparison_kind::exists)
      return exists(there, at);
    if (there != look::yes)
      return there;
    if (test.kind == comparison_kind::sample)
      return sample(test, value, at);
    if (test.kind == comparison_kind::holds)
      return at == nullptr ? condition_verdict::absent : holds(test, at);
    if (at != nullptr)
      there = record_.load(at, value);
    if (there != look::yes)
      return there;
    if ((test.kinds & only(value.kind)) == 0)
      return condition_verdict::absent;
    if (!record_.spend(test.others.size()))
      return condition_verdict::unknown;
    const auto result = compare_scalar(test, value);
    return test.negated ? negation(result) : result;
  }

private:
  /// Sets either `value` or `at`.
  look find(const compiled_test& test, scalar& value, const std::byte*& at) noexcept;
  static condition_verdict exists(look there, const std::byte* at) noexcept;
  condition_verdict holds(const compiled_test& test, const std::byte* at) noexcept;
  condition_verdict sample(const compiled_test& test, scalar value, const std::byte* at) noexcept;

  std::string_view topic_;
  encoded_record& record_;
  std::span<const column_place> places_;
};

look judging::find(const compiled_test& test, scalar& value, const std::byte*& at) noexcept {
  value.kind = scalar_kind::text;
  switch (test.subject) {
  case field_kind::column: {
    const auto place = places_[test.column];
    return place == no_place ? look::unknown : record_.member(place, at);
  }
  case field_kind::position:
    return record_.member(test.path, at);
  case field_kind::whole:
    return record_.whole(at);
  case field_kind::event_name:
    return record_.event_name(value.text);
  case field_kind::topic_name:
    value.text = topic_;
    return look::yes;
  case field_kind::topic_part:
    return part_of(topic_, test.part, value.text) ? look::yes : look::absent;
  case field_kind::size_bytes:
    value = {.kind = scalar_kind::number, .bits = record_.bytes().size()};
    return look::yes;
  }
  return look::absent;
}

condition_verdict judging::exists(look there, const std::byte* at) noexcept {
  if (there != look::yes)
    return there == look::absent ? condition_verdict::no : there;
  return from(at == nullptr || tag_at(at) != data_type::none);
}

/// Whether a member, or a key, is as the test says. Members of other kinds are not.
condition_verdict judging::holds(const compiled_test& test, const std::byte* at) noexcept {
  members inside;
  bool is_table = false;
  auto there = record_.open_container(at, inside, is_table);
  if (there != look::yes)
    return there;
  at = inside.first;
  auto result = condition_verdict::no;
  for (auto left = inside.count; left > 0 && result != condition_verdict::yes; --left) {
    scalar value;
    there = record_.load(at, value);
    if (there == look::unreadable)
      return there;
    if (there == look::yes && (test.kinds & only(value.kind)) != 0) {
      if (!record_.spend(test.others.size()))
        return condition_verdict::unknown;
      result = either(result, compare_scalar(test, value));
    }
    for (int passed = 0; passed <= static_cast<int>(is_table); ++passed)
      if (there = record_.skip(at); there != look::yes)
        return there;
  }
  return result;
}

/// Equal values have one hash, however a peer has encoded them; `room` is for those that are
/// written anew.
std::span<const std::byte> hashed_bytes(const std::byte* at, const scalar& value,
                                        std::array<std::byte, 8>& room) noexcept {
  const auto type = tag_at(at);
  if (type == data_type::string || type == data_type::enum_value)
    return std::as_bytes(std::span{value.text});
  if (type == data_type::boolean) {
    room[0] = static_cast<std::byte>(value.bits);
    return std::span{room}.first(1);
  }
  if (type == data_type::real) {
    store_be(room.data(), encode_real(value.real));
    return room;
  }
  return {at + 1, body_size[static_cast<std::size_t>(type)]};
}

condition_verdict judging::sample(const compiled_test& test, scalar value,
                                  const std::byte* at) noexcept {
  std::array<std::byte, 8> room;
  std::span<const std::byte> bytes;
  auto seed = static_cast<std::uint8_t>(data_type::string);
  if (test.subject == field_kind::whole) {
    bytes = record_.bytes();
    seed = 0;
  } else if (test.subject == field_kind::size_bytes) {
    store_be(room.data(), value.bits);
    bytes = room;
    seed = static_cast<std::uint8_t>(data_type::count);
  } else if (at == nullptr)
    bytes = std::as_bytes(std::span{value.text});
  else {
    if (const auto there = record_.load(at, value); there != look::yes)
      return there;
    bytes = hashed_bytes(at, value, room);
    seed = static_cast<std::uint8_t>(tag_at(at));
  }
  return from(sample_hash(seed, bytes) % test.of < test.keep);
}

} // namespace

condition_verdict condition_program::judge(std::string_view topic, encoded_record& record,
                                           std::span<const column_place> places) const noexcept {
  judging now{topic, record, places};
  std::array<condition_verdict, condition::max_depth + 2> stack;
  std::size_t used = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& each = steps_[i];
    switch (each.kind) {
    case step_kind::test:
      stack[used] = now.run(tests_[each.number]);
      if (stack[used] == condition_verdict::unreadable)
        return condition_verdict::unreadable;
      ++used;
      break;
    case step_kind::jump_if_no:
    case step_kind::jump_if_yes:
      if (stack[used - 1] == from(each.kind == step_kind::jump_if_yes))
        i = each.number - 1;
      break;
    case step_kind::negate:
      stack[used - 1] = negation(stack[used - 1]);
      break;
    case step_kind::both:
    case step_kind::either:
      --used;
      stack[used - 1] = each.kind == step_kind::both ? both(stack[used - 1], stack[used])
                                                     : either(stack[used - 1], stack[used]);
      break;
    }
  }
  return stack[0];
}

} // namespace pubsub
