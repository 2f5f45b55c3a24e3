#include "site.hpp"

#include <pubsub/value/subnet.hpp>

#include <algorithm>
#include <array>
#include <cassert>

namespace flow_monitor {
namespace {

pubsub::subnet known(std::string_view text) {
  const auto parsed = pubsub::subnet::parse(text);
  assert(parsed);
  return *parsed;
}

} // namespace

bool is_local(const pubsub::address& address) {
  static const std::array nets{
      known("10.0.0.0/8"),    known("172.16.0.0/12"), known("192.168.0.0/16"),
      known("100.64.0.0/10"), known("127.0.0.0/8"),   known("169.254.0.0/16"),
      known("fc00::/7"),      known("fe80::/10"),     known("::1/128")};
  return std::any_of(nets.begin(), nets.end(),
                     [&](const pubsub::subnet& net) { return net.contains(address); });
}

} // namespace flow_monitor
