// Any bytes as the value that conditions are asked about: never read beyond, and values in one
// encoding or another are answered alike.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "filter/condition_set.hpp"
#include "filter/message_selector.hpp"

#include <pubsub/condition.hpp>
#include <pubsub/data_view.hpp>

#include <array>

namespace pubsub::fuzz {

namespace {

// Without @size and samples of whole values: those tell one encoding of a value from another.
constexpr std::array<std::string_view, 14> texts{
    "$ == 1 || $ < -5 || $ > 1.5",
    "$0 in {\"a\", \"b\"*} && $1 != 5",
    "$1.2 == 443/tcp || $2.1 in 1/udp..99/udp",
    "$0 in {10.0.0.0/8, ::1, 2001:db8::/33}",
    "$ has 1 || $1 has \"a\"*",
    "exists($3) && !exists($0.1)",
    "@event == \"log_conn\" && 1 in 3 by $0",
    "$0 > 2020-01-01 || $0 in 1s..5min",
    "$2 == Conn::LOG || $3 == true",
    "!($0 == 1 && ($1 == 2 || !($2 < \"x\")))",
    "uid == \"x\" || resp_p == 80/tcp",
    "$9.9.9 == 1",
    "$4 in {1, 2.5, -3, 18446744073709551615} || $5 in 0.5..7",
    "@topic.1 == \"b\" && $ == \"x\"",
};

std::vector<condition> make_conditions(const condition_options& options) {
  std::vector<condition> result;
  for (const auto text : texts)
    if (auto made = condition::make(text, options))
      result.push_back(std::move(*made));
  return result;
}

condition_options with_columns() {
  condition_options options;
  options.columns = {{"uid", ""}, {"resp_p", ""}};
  return options;
}

/// A set may want more than each condition by itself, never less, and the same again.
void check_together(const std::vector<condition>& all, std::span<const std::byte> bytes) {
  std::vector<condition_set::condition_ptr> shared;
  for (const auto& each : all)
    shared.push_back(std::make_shared<const condition>(each));
  static condition_set set{shared};
  conditions::log_columns columns;
  const auto wanting = set.wanting("a/b", bytes, columns);
  for (std::size_t i = 0; i < all.size(); ++i)
    check(!all[i].passes(all[i].judge("a/b", bytes)) ||
              (!wanting.empty() && (wanting[0] >> i & 1) != 0),
          "what passes one condition is wanted by all of them together");
}

void try_input(std::span<const std::byte> bytes) {
  static const auto all = make_conditions(with_columns());
  static const auto learning = make_conditions({});
  check(all.size() == texts.size() && learning.size() == texts.size(), "conditions are conditions");
  const auto view = data_view::make(bytes);
  const auto tree = view ? view->to_data() : data{};
  const bool comparable = view && !has_subnormal(tree);
  const auto again = comparable ? *encode_binary(tree) : std::vector<std::byte>{};
  for (const auto& each : all) {
    const auto answer = each.judge("a/b", bytes);
    check(!view || answer != condition_verdict::unreadable, "a valid value can be read");
    check(!comparable || each.judge("a/b", again) == answer, "a value is answered, not its bytes");
  }
  for (const auto& each : learning) {
    message_selector selector{each};
    const bool first = selector.wants("a/b", bytes);
    check(!first || !view || each.judge("a/b", bytes) != condition_verdict::no ||
              !each.program().named().empty(),
          "what is not wanted does not pass");
    selector.wants("a/b", bytes);
  }
  check_together(all, bytes);
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
