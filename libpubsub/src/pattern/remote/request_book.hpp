// What a client has asked for, and what became of it. Pure: messages in, messages out to a port.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/pattern/remote_options.hpp>

#include "pattern/mailbox/numbered.hpp"
#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/remote_meter.hpp"
#include "pattern/remote/remote_plan.hpp"

namespace pubsub::pattern {

/// A call, shared with whoever waits for it. What is behind `done` does not change once that is
/// true.
struct remote_call {
  std::atomic<bool> done{false};
  std::uint64_t number = 0;
  pubsub::error error;
  data_view result; ///< where there is no error
  data_message storage;
  std::vector<std::function<void()>> then; ///< called as it completes; not behind `done`
};

/// The ways out of a client.
class remote_port {
public:
  enum class outcome : std::uint8_t {
    sent,
    not_now,  // there is no room, or no way
    too_long, // for any way
  };

  virtual ~remote_port() = default;
  virtual outcome to_instance(const endpoint_id& id, std::span<const std::byte> message) = 0;
  /// Somebody serves the name.
  virtual bool anybody_serves() = 0;
};

/// Not thread-safe. Each call completes exactly once.
class request_book {
public:
  using time = std::chrono::steady_clock::time_point;
  using call_ptr = std::shared_ptr<remote_call>;

  request_book(const endpoint_id& id, std::string service_name, const remote_options& options,
               remote_port& port);

  /// The argument is one value in bin::v1. Call `send` when all are added.
  call_ptr add(std::string_view operation, std::span<const std::byte> argument, time deadline,
               time now);
  /// Sends what the mode allows; with `flush` also what would wait for company.
  void send(time now, bool flush = false);
  /// The same in one request to each instance.
  void send_bulk(time now);
  /// False if it was complete.
  bool cancel(remote_call& call, time now);

  /// `prompt`: it came while somebody was waiting for it.
  void receive(const data_message& message, time now, bool prompt = true);
  /// As `remote_meter::add_calls`.
  void note_calls(std::uint64_t operations, std::chrono::nanoseconds took, bool coming_back) {
    meter_.add_calls(operations, took, coming_back);
  }
  /// It is out of reach.
  void lose(const endpoint_id& id, time now);
  /// Gives up what is late, and instances that are silent. At `next_tick` or later.
  void tick(time now);
  time next_tick() const noexcept { return next_tick_; }
  /// Completes all with this error.
  void abandon(const pubsub::error& why);

  bool has_room() const noexcept { return unfinished() < options_.max_unfinished; }
  std::size_t unfinished() const noexcept { return entries_.size(); }
  /// With a result or an error.
  std::uint64_t completed() const noexcept { return counters_.done + counters_.failed; }
  std::size_t instances() const noexcept;
  std::vector<endpoint_id> known_instances() const;
  const remote_counters& counters() const noexcept { return counters_; }
  const remote_conditions& conditions() const noexcept { return meter_.conditions(); }
  /// Of one operation; the network's are the same for all.
  remote_conditions conditions(std::string_view operation) const;
  remote_plan plan() const noexcept { return plan_.public_plan(); }

private:
  enum class stage : std::uint8_t {
    waiting,  // to be sent
    asked,    // an instance has it
    answered, // its turn to complete comes
  };
  struct entry {
    call_ptr call;
    std::uint32_t operation = 0; // index
    stage at = stage::waiting;
    unsigned losses = 0;
    time deadline{};
    std::string argument; // in bin::v1; short ones take no memory of their own
    endpoint_id instance; // that was asked
    std::uint64_t place = 0;
  };
  struct sent_request {
    std::uint64_t operations = 0;
    std::uint64_t left = 0; // of them
    std::size_t size_bytes = 0;
    time at{};
    bool alone = false; // nothing else was under way
  };
  struct taken_place {
    std::uint64_t call = 0;
    std::uint64_t request = 0;
  };
  struct instance {
    std::uint64_t stream = 0;
    std::uint64_t workers = 1;
    std::map<std::string, bool, std::less<>> operations; // whether they are idempotent
    bool leaving = false;
    time heard{};
    time blocked_until{};         // nothing could be sent to it
    numbered<taken_place> places; // those not settled
    numbered<sent_request> requests;
    std::size_t late = 0; // calls that were given up since it last replied
  };
  using instance_map = std::map<endpoint_id, instance>;

  void finish(entry& what, pubsub::error why, std::uint64_t& counter);
  void finish_answered(entry& what);
  void finish_in_turn();
  void fail(entry& what, pubsub::error why);
  void give_back(std::uint64_t number);

  void send_by(const request_plan& plan, time now, bool flush);
  void skip_complete();
  instance_map::iterator choose(std::uint32_t operation, const request_plan& plan, time now);
  bool waits_for_company(std::size_t most, time now);
  bool refuse_front();
  std::size_t share_of(const request_plan& plan, time now) const;
  static bool is_free(const instance& it, const request_plan& plan, time now) noexcept;
  std::size_t together(const request_plan& plan) const;
  std::size_t gather(std::uint32_t operation, std::size_t max, std::size_t max_bytes);
  void send_batch(instance_map::value_type& to, std::uint32_t operation, std::size_t n, time now);
  void note_sent(instance_map::value_type& to, time now);
  void update_plan(time now);
  service_size size() const noexcept;

  void hear(const service_status& status, time now);
  void hear(const reply_view& reply, const data_message& storage, time now, bool prompt);
  void settle(instance& at, const reply_view& reply, const data_message& storage);
  reply_sample sample_of(instance& at, const reply_view& reply);
  std::optional<std::uint64_t> take_place(instance& at, std::uint64_t place);
  void release(entry& what);
  void lose(instance_map::iterator at, const std::string& how, time now);
  void give_up_late(time now);
  std::uint32_t index_of(std::string_view operation);

  const endpoint_id id_;
  const std::string service_name_;
  const remote_options options_;
  remote_port& port_;
  data_writer scratch_, arguments_;

  std::vector<std::string> operations_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
  instance_map instances_;
  std::uint64_t next_stream_ = 1;

  numbered<entry> entries_;         // that are not complete
  std::uint64_t next_in_turn_ = 0;  // those before are complete
  std::deque<std::uint64_t> queue_; // that wait; some are complete by now
  time waiting_since_{};            // the first of them, in round numbers
  std::vector<std::uint64_t> batch_;
  std::size_t in_flight_ = 0;
  time next_tick_{};
  time next_deadline_ = time::max();

  request_plan plan_;
  time next_choice_{};
  std::size_t chosen_for_ = 0; // bits of the number that waited
  remote_meter meter_;
  remote_counters counters_;
};

} // namespace pubsub::pattern
