// One connection from its first byte to its last: handshake, then messages, then goodbye.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <pubsub/endpoint_id.hpp>

#include "link/peer_link.hpp"
#include "node/broker_mesh/circle_prober.hpp"
#include "node/flow/message_reader.hpp"
#include "node/peering/inquiry.hpp"
#include "node/peering/liveness.hpp"
#include "node/peering/session_owner.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub {

struct peer_request;

/// Lives on its link's loop; `leave`, `reject`, `go_on` and `cut` may be called from any thread.
class session final : public link_handler, public std::enable_shared_from_this<session> {
public:
  session(std::shared_ptr<session_owner> owner, std::shared_ptr<peer_link> carrier,
          wire::tcp_role role, std::shared_ptr<peer_request> request);

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

  const std::shared_ptr<peer_link>& carrier() const noexcept { return link_; }
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
  void start_probing();
  void part(std::chrono::milliseconds patience, const std::vector<endpoint_id>& behind,
            std::function<void()> last_words);
  void say_last_words();
  static bool is_goodbye(std::span<const std::byte> payload);
  void watch_over_peer();
  void look_at_peer();
  liveness::picture picture() const;
  using token = std::array<std::byte, 11>;
  static token make_goodbye_token();

  const std::shared_ptr<session_owner> owner_;
  const std::shared_ptr<peer_link> link_;
  const std::shared_ptr<peer_request> request_; // null for accepted connections
  wire::handshake handshake_;
  filter announced_;
  std::unique_ptr<message_reader> reader_; // set once the handshake is over
  bool peered_ = false;                    // and both sides have announced what they know
  const std::unique_ptr<loop_timer> timer_;
  const token goodbye_ = make_goodbye_token();
  inquiries asked_;
  liveness life_;
  const std::unique_ptr<loop_timer> look_;  // at the peer, from time to time
  const std::unique_ptr<loop_timer> again_; // for what waits for answers to flushes
  bool again_armed_ = false;
  std::optional<circle_prober> prober_;   // over a Broker peer
  std::shared_ptr<live_counters> counts_; // set once peered
  std::vector<std::shared_ptr<route_flush>> parting_;
  peer_link::clock::time_point parting_until_;
  std::vector<std::function<void()>> last_words_; // a goodbye, or the answer to one
  bool left_ = false;                             // by the peer
  bool leaving_ = false;
  bool cut_off_ = false;
  bool closed_ = false;
};

} // namespace pubsub
