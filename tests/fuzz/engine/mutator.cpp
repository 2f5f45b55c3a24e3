#include "fuzz/engine/mutator.hpp"

#include <algorithm>
#include <array>

namespace pubsub::fuzz {

namespace {

constexpr std::size_t kept_comparisons = 512;

std::string big_endian(std::uint64_t x, std::size_t size) {
  std::string out;
  for (auto i = size; i > 0; --i)
    out.push_back(static_cast<char>(x >> (8 * (i - 1))));
  return out;
}

/// As far as it fits.
void overwrite(std::string& x, std::size_t at, const std::string& with) {
  for (std::size_t i = 0; i < with.size() && at + i < x.size(); ++i)
    x[at + i] = with[i];
}

} // namespace

std::string mutator::next(std::span<const std::string> corpus) {
  constexpr std::size_t recent = 32;
  const auto from = corpus.size() > recent && below(2) == 0 ? corpus.size() - recent : 0;
  auto x = corpus[from + below(corpus.size() - from)];
  for (auto n = std::size_t{1} << below(4); n > 0; --n)
    change(x, corpus);
  x.resize(std::min(x.size(), max_bytes_));
  return x;
}

void mutator::learn(std::span<const comparison> compared) {
  for (const auto& each : compared) {
    if (compared_.size() < kept_comparisons)
      compared_.push_back(each);
    else
      compared_[below(compared_.size())] = each;
  }
}

void mutator::change(std::string& x, std::span<const std::string> corpus) {
  switch (below(5)) {
  case 0:
    return change_byte(x);
  case 1:
    return change_number(x);
  case 2:
    return make_equal(x);
  default:
    return change_piece(x, corpus);
  }
}

void mutator::change_byte(std::string& x) {
  const auto at = below(x.size() + 1);
  if (below(4) == 0 || at == x.size())
    x.insert(at, 1, static_cast<char>(below(2) == 0 ? below(24) : below(256)));
  else if (below(2) == 0)
    x[at] = static_cast<char>(x[at] ^ (1 << below(8)));
  else
    x[at] = static_cast<char>(below(256));
}

void mutator::change_number(std::string& x) {
  static constexpr std::array<std::uint64_t, 14> edges{0,
                                                       1,
                                                       0x7f,
                                                       0x80,
                                                       0xff,
                                                       0x7fff,
                                                       0x8000,
                                                       0xffff,
                                                       0x7fff'ffff,
                                                       0x80000000,
                                                       0xffffffff,
                                                       ~std::uint64_t{0} >> 1,
                                                       ~std::uint64_t{0},
                                                       0x80000001};
  const auto at = below(x.size());
  const auto size = std::size_t{1} << below(4);
  if (below(2) == 0)
    return overwrite(x, at, big_endian(edges[below(edges.size())], size));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size && at + i < x.size(); ++i)
    number = number << 8 | static_cast<std::uint8_t>(x[at + i]);
  overwrite(x, at, big_endian(number + below(33) - 16, size));
}

void mutator::change_piece(std::string& x, std::span<const std::string> corpus) {
  const auto at = below(x.size() + 1);
  const auto size = below(std::min<std::size_t>(x.size() - at, 64) + 1);
  switch (below(6)) {
  case 0:
    x.erase(at, size);
    break;
  case 1:
    x.insert(at, x.substr(at, size));
    break;
  case 2: {
    const auto& other = corpus[below(corpus.size())];
    const auto from = below(other.size() + 1);
    x.replace(at, below(2) == 0 ? 0 : size, other.substr(from, below(128)));
    break;
  }
  case 3:
    x.resize(at);
    break;
  default:
    if (!words_.empty() && below(2) == 0)
      x.insert(at, words_[below(words_.size())]);
    else if (!words_.empty())
      overwrite(x, at, words_[below(words_.size())]);
  }
}

/// Where a number stands that was compared with another one, that takes its place.
void mutator::make_equal(std::string& x) {
  if (compared_.empty())
    return change_byte(x);
  const auto& [seen, wanted, size] = compared_[below(compared_.size())];
  const bool swap = below(4) == 0; // which of both comes from the input is not told
  const auto from = big_endian(swap ? wanted : seen, size);
  const auto to = big_endian((swap ? seen : wanted) + below(3) - 1, size);
  const auto at = x.find(from, below(x.size() + 1));
  overwrite(x, at == x.npos ? below(x.size()) : at, to);
}

} // namespace pubsub::fuzz
