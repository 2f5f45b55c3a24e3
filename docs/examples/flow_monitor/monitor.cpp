#include "monitor.hpp"

#include <fmt/format.h>

#include <utility>

namespace flow_monitor {
namespace {

// Frames reach us up to this long after their timestamp, so only what is older is certainly past.
constexpr std::chrono::seconds live_delay{1};

} // namespace

monitor::monitor(capture& source, const flow_limits& limits, record_handler on_record,
                 complaint_handler on_complaint)
    : source_(source), decoder_(source.link_type()),
      table_(limits, uid_source::from_random_device()), on_record_(std::move(on_record)),
      on_complaint_(std::move(on_complaint)) {}

void monitor::complain(std::string_view what) {
  on_complaint_(fmt::format("{}: packet {}: {}", source_.name(), counts_.packets, what));
}

bool monitor::hand_over() {
  bool is_wanted = true;
  for (const auto& record : finished_) {
    is_wanted = on_record_(record) && is_wanted;
    ++counts_.records;
  }
  finished_.clear();
  return is_wanted;
}

progress monitor::step() {
  captured_frame frame;
  switch (source_.next(frame)) {
  case read_state::idle:
    table_.advance(pubsub::now() - live_delay, finished_);
    return hand_over() ? progress::idle : progress::done;
  case read_state::end:
    return progress::done;
  case read_state::broken:
    ++counts_.packets;
    ++counts_.broken_reads;
    complain(source_.failure());
    return progress::done;
  case read_state::frame:
    break;
  }
  return take_in(frame);
}

progress monitor::take_in(const captured_frame& frame) {
  ++counts_.packets;
  counts_.bytes += frame.wire_bytes;
  const auto outcome = decoder_.decode(frame);
  if (const auto* p = std::get_if<packet>(&outcome))
    table_.add(*p, finished_);
  else if (const auto* why = std::get_if<skipped>(&outcome);
           why != nullptr && is_error(why->reason))
    complain(fmt::format("{}: {}", to_string(why->reason), why->what));
  return hand_over() ? progress::packet : progress::done;
}

void monitor::drain(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < deadline && step() == progress::packet) {
  }
}

void monitor::finish() {
  decoder_.finish();
  table_.finish_all(finished_);
  hand_over();
}

} // namespace flow_monitor
