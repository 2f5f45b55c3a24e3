// Who our peers are: listening, connecting, retrying, admitting, parting.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint_options.hpp>
#include <pubsub/peer_info.hpp>

#include "node/flow/live_counters.hpp"
#include "node/peering/access_control.hpp"
#include "node/peering/connections.hpp"
#include "node/peering/node_inquiries.hpp"
#include "node/peering/peer_reports.hpp"
#include "node/peering/peer_request.hpp"
#include "node/peering/peer_table.hpp"
#include "node/routing/router.hpp"
#include "transport/event_loop.hpp"

namespace pubsub {

/// Whether an endpoint forwards before it has become a relay by itself.
bool starts_as_relay(const endpoint_options& options) noexcept;

/// The map of peers and their states, and everything that feeds it. One mutex guards the map; it is
/// never held while waiting for I/O. Thread-safe.
class peering final : public session_owner, public std::enable_shared_from_this<peering> {
public:
  peering(const endpoint_id& self, const endpoint_options& options, router& routes,
          status_hub& events, counter_registry& counts);

  // -- for the endpoint ------------------------------------------------------------------------

  expected<std::uint16_t> listen(std::string_view where);
  /// Starts connecting; with `wait`, waits for the first success.
  expected<void> connect(std::string_view target, const peer_options& options, bool wait);
  expected<void> disconnect(const endpoint_id& id, std::chrono::nanoseconds timeout);
  expected<void> disconnect(std::string_view target, std::chrono::nanoseconds timeout);
  std::vector<peer_info> peers() const;
  bool wait_for_peers(std::size_t n, std::chrono::nanoseconds timeout) const;
  bool wait_for_peer(const endpoint_id& id, std::chrono::nanoseconds timeout) const;
  std::vector<std::shared_ptr<session>> established() const {
    lock_type lock{mutex_};
    return peers_.in_phase(phase::peered, phase::peered);
  }
  /// The session of this peer; null if it is not peered.
  std::shared_ptr<session> session_of(const endpoint_id& id) const {
    lock_type lock{mutex_};
    return peers_.peered(id);
  }
  /// The session whose link this is; null if there is none that is peered.
  std::shared_ptr<session> session_over(const peer_link& link) const;
  /// As `endpoint::set_access`. The rules are in order.
  void set_access(std::optional<access_rules> rules);
  /// As `endpoint::set_tls` and `endpoint::certificate_expiry`.
  expected<void> set_tls(const tls_options& options) { return factories_.renew(options); }
  std::optional<std::chrono::sys_seconds> certificate_expiry() { return factories_.expiry(); }
  /// Makes what this node tells of itself. Call before the first `listen` or `connect`.
  void tell_by(node_inquiries::tell make) { inquiries_.tell_by(std::move(make)); }
  /// Asks a node at any distance, or where a message goes; waits for the reply until `until`.
  wire::reply ask(wire::inquiry what, const deadline& until) {
    return inquiries_.ask(std::move(what), until);
  }
  /// The outboxes of all peers.
  std::vector<std::shared_ptr<peer_link>> links() const;
  /// A peer that was asked, for `session::give_up`.
  struct asked_peer {
    std::weak_ptr<session> who;
    std::uint32_t number = 0;
  };
  /// Adds a part to `who` for each Broker peer, which ends once that peer has read what was sent to
  /// it so far, or is gone. Returns whom it has asked.
  std::vector<asked_peer> ask_broker_peers(const std::shared_ptr<ready_state>& who) const;
  /// Waits until what all peers had to send when they were asked has come. False at the deadline.
  bool wait_until_all_is_read(const deadline& until) const;
  /// Accepts no more peers, and parts from those that are clients. Waits for their goodbyes, behind
  /// which nothing comes. False at the deadline.
  bool part_from_clients(const deadline& until);
  /// What a thread that waits for messages may run instead of sleeping; or null.
  shared_loop* loop_to_share() noexcept { return io_.only_loop(); }
  /// A connection is there, made for this request or accepted: a handshake begins over it.
  void adopt(std::shared_ptr<peer_link> carrier, wire::tcp_role role,
             std::shared_ptr<peer_request> request = nullptr);
  /// Parts from all peers, waiting at most `timeout` for the goodbyes. No I/O thread is in here
  /// afterwards.
  void close(std::chrono::nanoseconds timeout) noexcept;

  // -- for sessions ----------------------------------------------------------------------------

  const endpoint_id& self() const noexcept override { return self_; }
  const endpoint_options& options() const noexcept override { return options_; }
  router& routes() noexcept override { return routes_; }
  bool is_client() const noexcept override { return !is_relay_ && options_.max_wire_version > 1; }
  void become_relay(const session* because_of = nullptr) override;
  /// Lets the routes report more after that time. From any thread.
  void report_later(std::chrono::nanoseconds delay) {
    io_threads::call_later(loop_, delay, [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && !self->closed())
        self->routes_.report_more();
    });
  }
  std::shared_ptr<live_counters> make_counters() override { return counts_.make(); }
  void take_inquiry(const wire::inquiry& what, const std::shared_ptr<session>& from,
                    inquiries::settle done) override {
    inquiries_.take(what, from, std::move(done));
  }
  wire::admission admit(session& who, const endpoint_id& remote, bool originator) override;
  bool is_known(const endpoint_id& remote) const override {
    lock_type lock{mutex_};
    return peers_.contains(remote);
  }
  void on_refusal(const session& who, std::string_view what) override {
    reports_.refused(who, what);
  }
  void on_peered(const std::shared_ptr<session>& who) override;
  void on_closed(const std::shared_ptr<session>& who, wire::handshake::outcome how,
                 error reason) override;

private:
  using lock_type = std::unique_lock<std::mutex>;
  using phase = peer_table::phase;

  /// Handlers that run later find nothing any more of what peering refers to.
  bool closed() const {
    lock_type lock{mutex_};
    return closed_;
  }
  node_inquiries::environment inquiries_environment();
  void open_session(std::shared_ptr<connection> carrier, wire::tcp_role role,
                    std::shared_ptr<peer_request> request);
  std::shared_ptr<peer_request> make_request(uri target, const peer_options& options,
                                             connection_factory make);
  void attempt_failed(const std::shared_ptr<peer_request>& request, const error& reason);
  bool part(const endpoint_id& id, std::chrono::nanoseconds timeout, lock_type& lock);
  void reconnect(const endpoint_id& id);
  template <class Condition>
  bool wait_until(std::chrono::nanoseconds timeout, Condition met) const;

  const endpoint_id self_;
  const endpoint_options options_;
  router& routes_;
  counter_registry& counts_;
  peer_reports reports_;
  connection_factories factories_;
  node_inquiries inquiries_;
  std::shared_ptr<asio::io_context> loop_; // one of them, for what comes later

  mutable std::mutex mutex_; // guards everything below
  mutable std::condition_variable changed_;
  io_threads io_;
  acceptor acceptor_;
  std::vector<std::shared_ptr<peer_request>> requests_;
  std::set<std::shared_ptr<session>> sessions_; // every connection that is not closed
  peer_table peers_;
  access_control access_;
  std::atomic<bool> is_relay_; // before the routes forward: who peers with us then is told so
  bool retiring_ = false;      // no more peers are accepted
  bool closed_ = false;
};

} // namespace pubsub
