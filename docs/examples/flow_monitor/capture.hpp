// libpcap behind one owner: a file or a live interface as a sequence of frames.
#pragma once

#include "decoder.hpp"

#include <pubsub/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

struct pcap;

namespace flow_monitor {

enum class read_state : std::uint8_t {
  frame,  ///< here is one
  idle,   ///< nothing arrived for a tenth of a second (live only)
  end,    ///< end of file
  broken, ///< cannot be read any further; see capture::failure()
};

class capture {
public:
  /// Opens a capture file, `-` for standard input. Errors: cannot_open_file.
  static pubsub::expected<capture> open_file(const std::string& path);
  /// Opens an interface in promiscuous mode. Errors: cannot_open_file; the context says whether
  /// there is no such interface (and which there are) or permission is missing.
  static pubsub::expected<capture> open_interface(const std::string& name);

  /// Lets only packets through that match `expression`, in pcap-filter(7) syntax.
  /// Errors: invalid_argument.
  pubsub::expected<void> set_filter(const std::string& expression);

  /// The next frame. Its bytes stay valid until the next call. Blocks for at most a tenth of a
  /// second on an interface that delivers nothing.
  read_state next(captured_frame& frame);

  [[nodiscard]] int link_type() const;
  [[nodiscard]] bool is_live() const { return is_live_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Why next() returned broken.
  [[nodiscard]] std::string failure() const;
  /// Packets that arrived faster than they were taken; nothing for a file.
  [[nodiscard]] std::optional<std::uint64_t> dropped_packets() const;

private:
  struct closer {
    void operator()(pcap* handle) const;
  };
  using handle_ptr = std::unique_ptr<pcap, closer>;

  capture(handle_ptr handle, std::string name, bool is_live)
      : handle_(std::move(handle)), name_(std::move(name)), is_live_(is_live) {}
  pubsub::expected<void> check_link_type() const;

  handle_ptr handle_;
  std::string name_;
  bool is_live_;
};

} // namespace flow_monitor
