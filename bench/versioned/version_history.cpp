// SPDX-License-Identifier: BSD-3-Clause
#include "versioned/version_history.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

constexpr std::size_t most_sentences = 10;

std::string version_of(const history_entry& x) {
  return fmt::format("{}.{}", x.epoch, x.number);
}

std::string message_of(const history_entry& x) {
  return fmt::format("message {} of client {:x}", x.client_number, x.client);
}

class checker {
public:
  template <class... Parts>
  void violated(fmt::format_string<Parts...> sentence, Parts&&... parts) {
    ++verdict_.violations;
    if (verdict_.sentences.size() < most_sentences)
      verdict_.sentences.push_back(fmt::format(sentence, std::forward<Parts>(parts)...));
  }

  void check_order(std::size_t replica, const history& x) {
    for (std::size_t i = 1; i < x.size(); ++i) {
      const auto& before = x[i - 1];
      if (x[i].number != before.number + 1)
        violated("replica {}: {} follows {}: not the next number", replica, version_of(x[i]),
                 version_of(before));
      if (x[i].epoch < before.epoch)
        violated("replica {}: {} follows {}: an older epoch", replica, version_of(x[i]),
                 version_of(before));
    }
  }

  /// Where both have a number they have the same under it.
  void check_same(std::size_t replica, const history& x, const history& first) {
    if (x.empty() || first.empty())
      return;
    const auto from = std::max(x.front().number, first.front().number);
    const auto to = std::min(x.back().number, first.back().number);
    auto a = std::ranges::lower_bound(x, from, {}, &history_entry::number);
    auto b = std::ranges::lower_bound(first, from, {}, &history_entry::number);
    for (; a != x.end() && b != first.end() && a->number <= to && b->number <= to; ++a, ++b)
      if (*a != *b)
        violated("replica {} has {} as {}, replica 0 has {} as {}", replica, message_of(*a),
                 version_of(*a), message_of(*b), version_of(*b));
  }

  /// `x` sorted by client and its number.
  void check_once(std::size_t replica, const history& x) {
    for (std::size_t i = 1; i < x.size(); ++i)
      if (same_message(x[i], x[i - 1]) && !is_void(x[i]))
        violated("replica {}: {} came twice, as {} and {}", replica, message_of(x[i]),
                 version_of(x[i - 1]), version_of(x[i]));
  }

  void check_acknowledged(std::size_t replica, const history& x, const history& acknowledged,
                          versions how) {
    for (const auto& wanted : acknowledged) {
      const auto found = std::ranges::lower_bound(x, wanted, by_message);
      if (found == x.end() || !same_message(*found, wanted))
        violated("replica {} lacks {}, acknowledged as {}", replica, message_of(wanted),
                 version_of(wanted));
      else if (how == versions::promised && found->number != wanted.number)
        violated("replica {} has {} as {}, acknowledged as {}", replica, message_of(wanted),
                 version_of(*found), version_of(wanted));
      else if (found->digest != wanted.digest)
        violated("replica {}: {} is not what was sent", replica, message_of(wanted));
    }
  }

  static bool by_message(const history_entry& a, const history_entry& b) {
    return std::pair{a.client, a.client_number} < std::pair{b.client, b.client_number};
  }

  history_verdict verdict_;

private:
  static bool is_void(const history_entry& x) { return x.client == 0 && x.client_number == 0; }
  static bool same_message(const history_entry& a, const history_entry& b) {
    return a.client == b.client && a.client_number == b.client_number;
  }
};

} // namespace

history_verdict check_histories(std::span<const history> replicas, const history& acknowledged,
                                versions how) {
  checker check;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    check.verdict_.checked += replicas[i].size();
    auto sorted = replicas[i];
    std::ranges::stable_sort(sorted, checker::by_message);
    if (how == versions::promised) {
      check.check_order(i, replicas[i]);
      check.check_same(i, replicas[i], replicas.front());
      check.check_once(i, sorted);
    }
    check.check_acknowledged(i, sorted, acknowledged, how);
  }
  return check.verdict_;
}

std::uint64_t digest_of(std::span<const std::byte> bytes) noexcept {
  constexpr std::uint64_t prime = 1099511628211U;
  std::uint64_t sum = 14695981039346656037U ^ bytes.size();
  for (; bytes.size() >= sizeof sum; bytes = bytes.subspan(sizeof sum)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    sum = std::rotl(sum ^ word, 29) * prime;
  }
  for (const auto x : bytes)
    sum = (sum ^ static_cast<std::uint64_t>(x)) * prime;
  return sum;
}

expected<void> write_history(const std::string& file, const history& what) {
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out.write(reinterpret_cast<const char*>(what.data()),
            static_cast<std::streamsize>(what.size() * sizeof(history_entry)));
  out.close();
  if (!out)
    return error{errc::cannot_write_file, file};
  return {};
}

expected<history> read_history(const std::string& file) {
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  if (!in)
    return error{errc::cannot_open_file, file};
  history result(static_cast<std::size_t>(in.tellg()) / sizeof(history_entry));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(result.data()),
          static_cast<std::streamsize>(result.size() * sizeof(history_entry)));
  if (!in)
    return error{errc::cannot_open_file, file};
  return result;
}

} // namespace pubsub::tool::bench
