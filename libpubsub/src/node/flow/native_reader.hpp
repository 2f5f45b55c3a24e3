// Receiving from a node of the network: batches of records, and news (version 2).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "node/flow/message_reader.hpp"
#include "route/stream_marks.hpp"

namespace pubsub {

/// Topics that the peer has announced, and where they go.
struct announced_topics {
  explicit announced_topics(held_bytes::total all) : held(std::move(all)) {}

  held_bytes held;
  std::vector<wire::announced_topic> topics;
  endpoint_id entry; // the relay of which the publisher is a client; nil: it is none
  std::unordered_set<endpoint_id> destinations; // of all topics
  intrusive_ptr<topic_table> passed_on; // the same, with the destinations that are left behind us
  std::vector<const route*> routes;     // by number, as far as in passed_on
  std::vector<char> screened;           // the same: whether the screen concerns the topic
  std::uint64_t generation = 0;         // of the routes
  std::size_t hops = 0;                 // of the messages, when they leave us
  std::uint64_t returns_as_of = 0;      // a generation; 0: not looked at
  bool returns = false;                 // all destinations were reached over the peer
  std::shared_ptr<stream_mark> mark;    // of the stream that came last
  run_origin origin;                    // of that stream
};

/// Records are handed on untouched, with their origin beside them; what has been delivered here
/// before is passed on only.
class native_reader final : public message_reader {
public:
  using message_reader::message_reader;

  void begin() override;
  void go_on() override;
  bool peer_can_be_asked() const noexcept override { return true; }
  std::size_t receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) override;

private:
  struct batch_part {
    std::byte* begin;
    run_position size;
    std::uint32_t first; // of the batch
    bool late = false;   // it, or what follows it, has been delivered here
  };

  void take_message(std::span<std::byte>, const wire::envelope_view&) override {
    env_.via->close({errc::invalid_message, "the peer sent a message outside of a batch"});
  }
  bool must_wait(std::size_t place, const held_frame& frame) override;
  bool must_wait(std::size_t place, const stream_name& stream, const announced_topics& topics);
  void route_held(held_frame& frame) override;
  bool take_flagged(std::span<std::byte> payload);
  bool take_interest(std::span<const std::byte> payload);
  bool take_question(std::optional<filter_question> question);
  template <class Report>
  bool take_report(std::optional<Report> news);
  bool take_topics(std::span<const std::byte> payload);
  bool take_entry(std::span<const std::byte> payload);
  void look_at_topic_bytes();
  bool take_batch(std::span<std::byte> payload);
  bool may_return(announced_topics& announced) const;
  bool is_published(const wire::announced_topic& x) const;
  bool is_behind(const endpoint_id& node);
  bool has_entered(const endpoint_id& client, const endpoint_id& relay);
  run_origin believed(run_origin claimed, announced_topics& announced);
  void route_batch(announced_topics& announced, wire::batch_header header,
                   std::span<std::byte> records, bool one_topic);
  void take_record(announced_topics& announced, const wire::batch_header& header,
                   const batch_part& part);
  void take_part(const route& to, const announced_topics& announced,
                 const wire::batch_header& header, const batch_part& part);
  const route& route_of(announced_topics& announced, std::uint8_t topic);
  stream_mark& mark_of(announced_topics& announced, const run_origin& origin);
  bool waits_for_another_relay() const {
    return env_.is_client && router_.must_wait_for_another(env_.remote);
  }
  /// What waits for the end of another relay is looked at now and then.
  void look_again_if_waiting() {
    if (env_.is_client && held_.any())
      env_.call_back(flow_tuning::time_between_looks);
  }
  bool take_flush(std::span<std::byte> payload);
  bool flush_all_of_client(const flush_request& request);
  void answer_client();
  void pass_flush(const flush_request& request);

  std::vector<std::shared_ptr<announced_topics>> tables_; // by number; null: not announced
  std::size_t topics_ = 0;                                // in tables_
  bool topics_pause_ = false;                             // all gates, since they take too much
  std::unordered_set<endpoint_id> behind_; // nodes whose messages have come over the peer
  std::unordered_map<endpoint_id, endpoint_id> entered_; // clients, with the relays they use
  std::map<endpoint_id, std::uint64_t> not_behind_;      // nodes, and the generation of the routes
  /// Of a client: whether all it has published has arrived where it went.
  struct client_flush {
    flush_request request;
    std::vector<std::shared_ptr<route_flush>> onward;
  };
  std::vector<client_flush> client_flushes_;
  bool ready_ = false; // the peer has said all it knew when the link began
};

} // namespace pubsub
