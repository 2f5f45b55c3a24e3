// SPDX-License-Identifier: BSD-3-Clause
#include "recording/recorder.hpp"

#include "recording/moments.hpp"
#include "terminal.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr std::size_t most_at_once = 4096;
constexpr std::chrono::seconds between_ticks{1};

std::string cause_of(const ring_request& request) {
  return fmt::format("triggered by a message on {} at {}", printable(request.topic),
                     moment_text(request.when));
}

std::map<std::string, std::string, std::less<>> about_cause(const ring_trigger& trigger,
                                                            const ring_request& request) {
  return {{"trigger", printable(trigger.condition_text())},
          {"trigger_time", moment_text(request.when)},
          {"trigger_topic", printable(request.topic)},
          {"trigger_more", std::to_string(request.more)}};
}

} // namespace

recorder::recorder(recording& to, subscriber& from, recorder_limits limits,
                   std::optional<ring_trigger> trigger)
    : to_(to), from_(from), limits_(std::move(limits)), trigger_(std::move(trigger)) {}

recorder_end recorder::run(const stop_signal& stop, command_signal& save) {
  auto next_tick = clock::now() + between_ticks;
  for (;;) {
    auto until = limits_.end ? std::min(*limits_.end, next_tick) : next_tick;
    if (trigger_ && trigger_->due())
      until = std::min(until, *trigger_->due());
    const auto why = wait_for_one_of({from_.fd(), save.fd()}, stop, until);
    if (why == wake::stopped)
      return recorder_end::stopped;
    if (save.take() != 0 && !save_ring())
      return recorder_end::failed;
    if (limits_.end && clock::now() >= *limits_.end)
      return recorder_end::out_of_time;
    bool closed = false;
    if (why == wake::ready && !take_batch(closed))
      return recorder_end::failed;
    if (!save_where_due())
      return recorder_end::failed;
    if (closed || enough())
      return closed ? recorder_end::closed : recorder_end::enough;
    if (clock::now() >= next_tick) {
      if (!tick())
        return recorder_end::failed;
      next_tick = clock::now() + between_ticks;
    }
  }
}

bool recorder::take_batch(bool& closed) {
  const auto most = limits_.messages
                        ? std::min<std::uint64_t>(most_at_once, *limits_.messages - messages_)
                        : most_at_once;
  batch_.clear();
  closed = from_.get_batch_for(batch_, most, std::chrono::nanoseconds{0}) == receive_status::closed;
  return write(batch_);
}

bool recorder::write(std::vector<data_message>& batch) {
  note_gaps();
  const auto when = now();
  const auto written = std::visit([&](auto& to) { return to.write(batch, when); }, to_);
  messages_ += batch.size();
  look_for_trigger(when);
  return succeeded(written);
}

void recorder::look_for_trigger(timestamp when) {
  if (!trigger_ || !trigger_->look_at(batch_, when, clock::now()))
    return;
  fmt::print(stderr, "{}; the ring is written in {}\n", cause_of(*trigger_->waiting()),
             duration_text(std::chrono::duration<double>(trigger_->after()).count()));
}

bool recorder::save_where_due() {
  if (!trigger_ || !trigger_->due() || clock::now() < *trigger_->due())
    return true;
  return save_ring(trigger_->take());
}

// A gap shows when the message behind it arrives: what is new is noted in front of that.
void recorder::note_gaps() {
  const auto counters = from_.counters();
  const record::gap fresh{counters.missed - noted_.missed, counters.dropped() - noted_.dropped};
  if (fresh == record::gap{})
    return;
  std::visit([&](auto& to) { to.note(fresh); }, to_);
  noted_ = {counters.missed, counters.dropped()};
}

bool recorder::save_ring(const std::optional<ring_request>& request) {
  auto* const ring = std::get_if<record::ring>(&to_);
  if (ring == nullptr)
    return true;
  const auto saved = request ? ring->save(limits_.path, about_cause(*trigger_, *request))
                             : ring->save(limits_.path);
  if (!saved) {
    fail(saved.error());
    return false;
  }
  totals_.messages += saved->messages;
  totals_.chunks += saved->chunks;
  totals_.files += saved->files;
  totals_.payload_bytes += saved->payload_bytes;
  totals_.file_bytes += saved->file_bytes;
  fmt::print(
      stderr, "saved {} messages to {}{}\n", grouped(saved->messages),
      saved->files > 0 ? ring->path() : "no file: there were none",
      request ? fmt::format(", {}, and {} more since", cause_of(*request), grouped(request->more))
              : "");
  return true;
}

// What has come is written once a second at least, so that little is lost where the power is.
bool recorder::tick() {
  auto* const writer = std::get_if<record::writer>(&to_);
  if (writer != nullptr && messages_ == shown_ && !succeeded(writer->flush()))
    return false;
  if (stderr_is_terminal())
    fmt::print(stderr, "{} messages, {} msgs/s, {}\n", grouped(messages_),
               grouped(messages_ - shown_),
               size_text(writer != nullptr ? writer->totals().file_bytes
                                           : std::get<record::ring>(to_).bytes()));
  shown_ = messages_;
  return true;
}

bool recorder::finish() {
  bool closed = false;
  while (!closed && !enough() && from_.available() > 0)
    if (!take_batch(closed))
      return false;
  note_gaps();
  auto* const writer = std::get_if<record::writer>(&to_);
  if (writer == nullptr) {
    const auto waiting = trigger_ ? trigger_->take() : std::nullopt;
    return !waiting || save_ring(waiting);
  }
  const bool whole = succeeded(writer->close());
  totals_ = writer->totals();
  return whole;
}

bool recorder::succeeded(const expected<void>& done) {
  if (!done)
    fail(done.error());
  return done.has_value();
}

} // namespace pubsub::tool
