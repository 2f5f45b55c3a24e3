// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/endpoint_options.hpp>

#include <string>

#include "base/node_name.hpp"
#include "transport/uri.hpp"
#include "wire/native/frames.hpp"

namespace pubsub {

namespace {

error out_of_range(std::string_view name, std::string_view range) {
  return {errc::invalid_argument, std::string{name} + " must be " + std::string{range}};
}

} // namespace

expected<void> check(const endpoint_options& options) {
  using std::chrono::nanoseconds;
  if (options.max_wire_version == 0 || options.max_wire_version > wire::newest_version)
    return out_of_range("max_wire_version", "1 or 2");
  if (!is_node_name(options.name))
    return out_of_range("name", "at most 64 letters, digits and -._:@/");
  if (options.max_frame_bytes == 0)
    return out_of_range("max_frame_bytes", "at least 1");
  if (options.max_handshake_frame_bytes == 0)
    return out_of_range("max_handshake_frame_bytes", "at least 1");
  if (options.max_half_open == 0)
    return out_of_range("max_half_open", "at least 1");
  if (options.max_peers == 0)
    return out_of_range("max_peers", "at least 1");
  if (options.handshake_timeout <= nanoseconds{0})
    return out_of_range("handshake_timeout", "more than 0");
  if (options.connect_timeout <= nanoseconds{0})
    return out_of_range("connect_timeout", "more than 0");
  if (options.liveness_timeout < nanoseconds{0})
    return out_of_range("liveness_timeout", "0, for never, or more");
  if (options.close_timeout < nanoseconds{0})
    return out_of_range("close_timeout", "0 or more");
  if (auto ok = options.access ? check(*options.access) : expected<void>{}; !ok)
    return ok;
  if (auto ok = check(options.memory); !ok)
    return ok;
  return check(options.link_queue);
}

expected<void> check(const shared_memory_options& options) {
  if (options.ring_bytes < 4096 || options.ring_bytes > std::size_t{1} << 30)
    return out_of_range("memory.ring_bytes", "4 KiB to 1 GiB");
  if (options.numa_node && *options.numa_node > 1023)
    return out_of_range("memory.numa_node", "at most 1023");
  return {};
}

expected<void> check(const peer_options& options) {
  using std::chrono::nanoseconds;
  if (options.retry && *options.retry <= nanoseconds{0})
    return out_of_range("retry", "more than 0, or not given");
  if (options.max_retry <= nanoseconds{0})
    return out_of_range("max_retry", "more than 0");
  if (options.timeout < nanoseconds{0})
    return out_of_range("timeout", "0 or more");
  if (options.access && options.access->name.empty())
    return out_of_range("access", "a rule with a name");
  return options.link_queue ? check(*options.link_queue) : expected<void>{};
}

expected<void> check_uri(std::string_view uri) {
  const auto read = parse_uri(uri);
  return read ? expected<void>{} : read.error();
}

} // namespace pubsub
