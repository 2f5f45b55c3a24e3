// The loop: frames from a capture through decoder and flow table to the outputs.
#pragma once

#include "capture.hpp"
#include "decoder.hpp"
#include "flow_table.hpp"
#include "record.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace flow_monitor {

struct monitor_counts {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0; ///< on the wire
  std::uint64_t records = 0;
  std::uint64_t broken_reads = 0; ///< the capture itself ended in the middle of a packet
};

/// Called for each finished connection, in the order in which they end. Returns false to stop.
using record_handler = std::function<bool(const conn_record&)>;
/// Called with one complete sentence about a packet that cannot be understood.
using complaint_handler = std::function<void(const std::string&)>;

enum class progress : std::uint8_t {
  packet, ///< one more was taken in
  idle,   ///< there is none at the moment
  done,   ///< there will be no more, or nobody wants more
};

class monitor {
public:
  monitor(capture& source, const flow_limits& limits, record_handler on_record,
          complaint_handler on_complaint);

  /// Takes in the next frame, or lets time pass where there is none.
  progress step();

  /// Takes in what a live source has captured by now but not yet delivered; at most for `limit`.
  void drain(std::chrono::milliseconds limit);

  /// Ends all connections still under way; call once.
  void finish();

  [[nodiscard]] const monitor_counts& counts() const { return counts_; }
  [[nodiscard]] const decoder& packets() const { return decoder_; }
  [[nodiscard]] const flow_table& flows() const { return table_; }

private:
  bool hand_over();
  progress take_in(const captured_frame& frame);
  void complain(std::string_view what);

  capture& source_;
  decoder decoder_;
  flow_table table_;
  record_handler on_record_;
  complaint_handler on_complaint_;
  std::vector<conn_record> finished_;
  monitor_counts counts_;
};

} // namespace flow_monitor
