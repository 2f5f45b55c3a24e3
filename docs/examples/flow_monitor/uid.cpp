#include "uid.hpp"

#include <random>
#include <string_view>

namespace flow_monitor {
namespace {

void append_base62(std::string& text, std::uint64_t x, int digits) {
  constexpr std::string_view alphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (int i = 0; i < digits; ++i, x /= alphabet.size())
    text.push_back(alphabet[x % alphabet.size()]);
}

} // namespace

uid_source uid_source::from_random_device() {
  std::random_device device;
  const auto bits = [&] { return std::uint64_t{device()} << 32 | device(); };
  const auto low = bits();
  return {low, bits()};
}

std::string uid_source::next() {
  std::string uid = "C";
  append_base62(uid, mix(++low_ ^ high_), 11); // 62^11 > 2^64: nothing is lost
  append_base62(uid, mix(high_), 6);
  return uid;
}

} // namespace flow_monitor
