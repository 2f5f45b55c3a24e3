// One connection from its first byte to its last: handshake, then messages, then goodbye.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <pubsub/endpoint_id.hpp>

#include "link/link.hpp"
#include "node/flow/inbound.hpp"
#include "node/peering/inquiry.hpp"
#include "node/peering/liveness.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub {

class peering;
struct peer_request;

/// Lives on its link's loop; `leave`, `reject`, `go_on` and `cut` may be called from any thread.
class session final : public link_handler, public std::enable_shared_from_this<session> {
public:
  session(std::shared_ptr<peering> owner, std::shared_ptr<link> carrier, wire::tcp_role role,
          std::shared_ptr<peer_request> request);

  /// On the link's loop.
  void start();
  void on_frames(const frame_batch& frames) override;
  void on_closed(const error& reason) override;

  /// The other handshake with this peer has failed: this one may go on.
  void go_on();
  /// The other handshake with this peer has succeeded: this connection is superfluous.
  void reject();
  /// Says goodbye behind everything queued, once what has gone to the nodes behind the peer has
  /// arrived there; closes on the answer, or after `timeout` without one.
  void leave(std::chrono::milliseconds timeout, std::vector<endpoint_id> behind);
  /// Closes at once.
  void cut(error reason);

  // From any thread, once peered:

  /// Asks the peer to answer when it has read everything sent to it before this.
  inquiries::ticket ask_whether_read();
  /// As `endpoint::peer_status`.
  expected<std::string> ask_status(const deadline& until);
  void forget(const inquiries::ticket& x) { asked_.forget(x.number); }

  const std::shared_ptr<link>& carrier() const noexcept { return link_; }
  const std::shared_ptr<peer_request>& request() const noexcept { return request_; }
  /// Nil until the handshake knows it; constant once peered.
  const endpoint_id& remote() const noexcept { return handshake_.remote(); }
  const filter& remote_filter() const noexcept { return handshake_.remote_filter(); }
  /// True if the goodbye was not answered in time; known once closed.
  bool cut_off() const noexcept { return cut_off_; }
  /// The filter this side announced in the handshake.
  const filter& announced() const noexcept { return announced_; }

private:
  wire::handshake::environment make_environment();
  void arm_timer(std::chrono::milliseconds timeout, error reason);
  void act_on(wire::handshake::outcome outcome);
  void begin_messages();
  void become_peered();
  bool on_news(wire::frame_kind kind, std::span<const std::byte> payload);
  void on_control(const wire::envelope_view& envelope);
  void on_goodbye(std::span<const std::byte> payload);
  void on_pong(std::span<const std::byte> payload);
  bool on_status_frame(std::span<const std::byte> payload);
  void call_back(std::chrono::milliseconds delay);
  void go_on_waiting();
  void part(std::chrono::milliseconds patience, const std::vector<endpoint_id>& behind,
            std::function<void()> last_words);
  void say_last_words();
  static bool is_goodbye(std::span<const std::byte> payload);
  void watch_over_peer();
  void look_at_peer();
  void probe_now_and_then();
  void probe();
  liveness::picture picture() const;
  using token = std::array<std::byte, 11>;
  static token make_goodbye_token();

  const std::shared_ptr<peering> peering_;
  const std::shared_ptr<link> link_;
  const std::shared_ptr<peer_request> request_; // null for accepted connections
  wire::handshake handshake_;
  filter announced_;
  std::optional<inbound> inbound_; // set once the handshake is over
  bool peered_ = false;            // and both sides have told what they know
  asio::steady_timer timer_;
  const token goodbye_ = make_goodbye_token();
  inquiries asked_;
  liveness life_;
  asio::steady_timer look_;  // at the peer, from time to time
  asio::steady_timer again_; // for what waits for answers to flushes
  bool again_armed_ = false;
  asio::steady_timer probe_; // for circles, over a Broker peer
  std::vector<std::string> topics_to_probe_;
  std::uint64_t probed_version_ = 0; // of the routes, when they were asked for
  std::size_t next_to_probe_ = 0;
  std::shared_ptr<live_counters> counts_; // set once peered
  std::vector<std::shared_ptr<route_flush>> parting_;
  std::chrono::steady_clock::time_point parting_until_;
  std::vector<std::function<void()>> last_words_; // a goodbye, or the answer to one
  bool left_ = false;                             // by the peer
  bool leaving_ = false;
  bool cut_off_ = false;
  bool closed_ = false;
};

} // namespace pubsub
