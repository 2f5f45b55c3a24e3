// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/websocket_server.hpp>

#include "cluster/websocket/server.hpp"

#include <utility>

namespace pubsub::cluster {

namespace {

error out_of_range(const char* field, const char* range) {
  return {errc::invalid_argument, std::string{field} + ": " + range};
}

} // namespace

expected<void> check(const websocket_server_options& options) {
  const auto where = read_server_url(options.address);
  if (!where)
    return error{errc::invalid_argument, "'" + options.address + "': " + where.error().context() +
                                             " (expected ws://HOST:PORT or wss://HOST:PORT)"};
  if (!where->encrypted && options.tls.authenticated())
    return out_of_range("tls", "only for addresses that begin with wss://");
  if (options.queue.policy == overflow_policy::block)
    return out_of_range("queue", "a policy that does not block: a client must not hold up others");
  if (auto ok = check(options.queue); !ok)
    return ok;
  if (options.ping_interval < options.ping_interval.zero())
    return out_of_range("ping_interval", "0, for never, or more");
  if (options.handshake_timeout <= options.handshake_timeout.zero())
    return out_of_range("handshake_timeout", "more than 0");
  if (options.max_clients == 0)
    return out_of_range("max_clients", "at least 1");
  if (options.max_message_bytes == 0)
    return out_of_range("max_message_bytes", "at least 1");
  if (options.threads == 0)
    return out_of_range("threads", "at least 1");
  return options.access ? check(*options.access) : expected<void>{};
}

class websocket_server::running {
public:
  template <class... Args>
  explicit running(Args&&... args) : server_(std::forward<Args>(args)...) {}
  server& operator*() noexcept { return server_; }

private:
  server server_;
};

websocket_server::websocket_server(std::unique_ptr<running> state) : state_(std::move(state)) {}
websocket_server::websocket_server(websocket_server&&) noexcept = default;
websocket_server& websocket_server::operator=(websocket_server&&) noexcept = default;
websocket_server::~websocket_server() = default;

expected<websocket_server> websocket_server::start(const endpoint& ep,
                                                   websocket_server_options options) {
  if (auto checked = check(options); !checked)
    return checked.error();
  auto where = read_server_url(options.address);
  auto folder = private_folder::make();
  if (!folder)
    return folder.error();
  auto state = std::make_unique<running>(ep.share(), std::move(options), std::move(*where),
                                         std::move(*folder));
  if (auto started = (**state).start(); !started)
    return started.error();
  return websocket_server{std::move(state)};
}

std::uint16_t websocket_server::port() const noexcept {
  return (**state_).address().port;
}

std::string websocket_server::uri() const {
  return to_string((**state_).address());
}

websocket_server_counters websocket_server::counters() const {
  return (**state_).counters();
}

expected<void> websocket_server::set_access(std::optional<access_rules> rules) {
  if (rules)
    if (auto checked = check(*rules); !checked)
      return checked;
  (**state_).set_access(std::move(rules));
  return {};
}

expected<void> websocket_server::set_tls(const tls_options& options) {
  return (**state_).set_tls(options);
}

} // namespace pubsub::cluster
