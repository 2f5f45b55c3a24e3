// Who our peers are: listening, connecting, retrying, admitting, parting.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <pubsub/endpoint_options.hpp>
#include <pubsub/peer_info.hpp>

#include "node/flow/live_counters.hpp"
#include "node/peering/back_off.hpp"
#include "node/peering/session.hpp"
#include "node/peering/status_queue.hpp"
#include "node/routing/router.hpp"
#include "transport/connector.hpp"
#include "transport/io_threads.hpp"
#include "transport/listener.hpp"
#include "transport/tls/tls_connection.hpp"

namespace pubsub {

/// One call of `endpoint::peer`: an address we try to be connected to. Guarded by the peering's
/// mutex.
struct peer_request {
  uri target;
  peer_options options;
  std::shared_ptr<connector> connects;
  endpoint_id remote;     ///< nil until the first success
  bool connected = false; ///< its peering is established
  bool stopped = false;
  bool attempted = false; ///< at least one attempt has failed
  back_off delays;        ///< between failed attempts
  std::chrono::steady_clock::time_point connected_at{};
  unsigned short_peerings = 0; ///< in a row
  error last_failure;
};

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
  expected<void> disconnect(const endpoint_id& id, std::chrono::milliseconds timeout);
  expected<void> disconnect(std::string_view target, std::chrono::milliseconds timeout);
  std::vector<peer_info> peers() const;
  bool wait_for_peers(std::size_t n, std::chrono::nanoseconds timeout) const;
  bool wait_for_peer(const endpoint_id& id, std::chrono::nanoseconds timeout) const;
  /// The sessions of all peers that are peered.
  std::vector<std::shared_ptr<session>> established() const;
  /// The session of this peer; null if it is not peered.
  std::shared_ptr<session> session_of(const endpoint_id& id) const;
  /// What `status_reply` returns. Call before the first `listen` or `connect`.
  void tell_status_by(std::function<std::string()> make) { make_status_ = std::move(make); }
  /// The outboxes of all peers.
  std::vector<std::shared_ptr<peer_link>> links() const;
  /// Waits until every Broker peer has read what was sent to it so far. False at the deadline.
  bool wait_until_read_by_broker_peers(const deadline& until) const;
  /// What a thread that waits for messages may run instead of sleeping; or null.
  shared_loop* loop_to_share() noexcept { return io_.only_loop(); }
  /// A connection is there, made for this request or accepted: a handshake begins over it.
  void adopt(std::shared_ptr<peer_link> carrier, wire::tcp_role role,
             std::shared_ptr<peer_request> request = nullptr);
  /// Parts from all peers, waiting at most `timeout` for the goodbyes, and stops the I/O threads.
  void close(std::chrono::milliseconds timeout) noexcept;

  // -- for sessions ----------------------------------------------------------------------------

  const endpoint_id& self() const noexcept override { return self_; }
  const endpoint_options& options() const noexcept override { return options_; }
  router& routes() noexcept override { return routes_; }
  std::shared_ptr<live_counters> make_counters() override { return counts_.make(); }
  std::string status_reply() const override {
    return make_status_ ? make_status_() : std::string{};
  }
  wire::admission admit(session& who, const endpoint_id& remote, bool originator) override;
  bool is_known(const endpoint_id& remote) const override;
  void on_peered(const std::shared_ptr<session>& who) override;
  void on_closed(const std::shared_ptr<session>& who, wire::handshake::outcome how,
                 error reason) override;

private:
  enum class phase : std::uint8_t { connecting, peered, leaving };

  struct entry {
    phase state = phase::connecting;
    std::shared_ptr<session> current;
    std::vector<std::shared_ptr<session>> paused; // wait for the outcome of `current`
  };
  using lock_type = std::unique_lock<std::mutex>;

  void open_session(std::shared_ptr<connection> carrier, wire::tcp_role role,
                    std::shared_ptr<peer_request> request);
  expected<connection_factory> factory_for(encryption security, tls_role role);
  std::shared_ptr<peer_request> make_request(uri target, const peer_options& options,
                                             connection_factory make);
  void attempt_failed(const std::shared_ptr<peer_request>& request, const error& reason);
  void stop_request(peer_request& request);
  bool part(const endpoint_id& id, std::chrono::milliseconds timeout, lock_type& lock);
  void lost(const std::shared_ptr<session>& who, const error& reason, lock_type& lock);
  void turn_away(const session& who, const error& reason);
  std::shared_ptr<session> abandon_handshake(const std::shared_ptr<session>& who);
  static void has_connected(peer_request& request, const endpoint_id& id);
  static void connect_again(peer_request& request);
  void reconnect(const endpoint_id& id);
  void announce_loss(const session& who, phase was, const error& reason);
  void balance_accepting();
  std::size_t peered_count() const;
  bool is_peered(const endpoint_id& id) const;

  const endpoint_id self_;
  const endpoint_options options_;
  router& routes_;
  status_hub& events_;
  counter_registry& counts_;
  std::function<std::string()> make_status_;

  std::mutex tls_mutex_; // guards the following
  std::shared_ptr<const tls_context> tls_;

  mutable std::mutex mutex_; // guards everything below
  mutable std::condition_variable changed_;
  io_threads io_;
  std::vector<std::shared_ptr<listener>> listeners_;
  std::vector<std::shared_ptr<peer_request>> requests_;
  std::set<std::shared_ptr<session>> sessions_; // every connection that is not closed
  std::map<endpoint_id, entry> peers_;
  std::size_t half_open_ = 0;                            // accepted, not yet peered
  std::chrono::steady_clock::time_point next_warning_{}; // not before, of those turned away
  bool accepting_paused_ = false;
  bool closed_ = false;
};

} // namespace pubsub
