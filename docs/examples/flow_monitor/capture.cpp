#include "capture.hpp"

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace flow_monitor {
namespace {

constexpr int snap_bytes = 262'144;
// The kernel delivers what it has after this long, ...
constexpr int delivery_ms = 50;
// ... so that a poll of this length that finds nothing means that there was nothing.
constexpr int poll_ms = 100;
constexpr int kernel_buffer_bytes = 16 << 20;

// What a file says may be anything; a timestamp holds 292 years.
pubsub::timestamp to_timestamp(const timeval& at, int precision) {
  constexpr std::int64_t last_second = std::numeric_limits<std::int64_t>::max() / 1'000'000'000 - 1;
  const std::int64_t unit = precision == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
  const auto seconds = std::clamp<std::int64_t>(at.tv_sec, 0, last_second);
  const auto fraction = std::clamp<std::int64_t>(at.tv_usec, 0, 999'999'999 / unit);
  return pubsub::timestamp{pubsub::timespan{seconds * 1'000'000'000 + fraction * unit}};
}

std::string interface_names() {
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  pcap_if_t* first = nullptr;
  if (pcap_findalldevs(&first, reason.data()) != 0)
    return {};
  std::string names;
  for (const auto* each = first; each != nullptr; each = each->next)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each->name);
  pcap_freealldevs(first);
  return names;
}

pubsub::error activation_error(pcap_t* handle, const std::string& name, int code) {
  std::string why;
  switch (code) {
  case PCAP_ERROR_NO_SUCH_DEVICE:
    why = fmt::format("no such interface; there are: {}", interface_names());
    break;
  case PCAP_ERROR_PERM_DENIED:
  case PCAP_ERROR_PROMISC_PERM_DENIED:
    why = "no permission to capture; run as root, or give the program the capability cap_net_raw";
    break;
  case PCAP_ERROR_IFACE_NOT_UP:
    why = "the interface is not up";
    break;
  default:
    why = fmt::format("{} {}", pcap_statustostr(code), pcap_geterr(handle));
  }
  return {pubsub::errc::cannot_open_file, fmt::format("interface {}: {}", name, why)};
}

} // namespace

void capture::closer::operator()(pcap* handle) const {
  pcap_close(handle);
}

pubsub::expected<void> capture::check_link_type() const {
  const int type = link_type();
  if (is_supported(type))
    return {};
  const char* text = pcap_datalink_val_to_description(type);
  return pubsub::error{pubsub::errc::cannot_open_file,
                       fmt::format("{}: link type {} ({}) is not supported", name_, type,
                                   text != nullptr ? text : "unknown")};
}

pubsub::expected<capture> capture::open_file(const std::string& path) {
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  handle_ptr handle{pcap_open_offline_with_tstamp_precision(
      path.c_str(), PCAP_TSTAMP_PRECISION_NANO, reason.data())};
  if (!handle) {
    const std::string_view why = reason.data();
    const bool is_named = why.find(path) != std::string_view::npos;
    return pubsub::error{pubsub::errc::cannot_open_file,
                         is_named ? std::string{why} : fmt::format("{}: {}", path, why)};
  }
  capture result{std::move(handle), path, false};
  if (const auto ok = result.check_link_type(); !ok)
    return ok.error();
  return result;
}

pubsub::expected<capture> capture::open_interface(const std::string& name) {
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  handle_ptr handle{pcap_create(name.c_str(), reason.data())};
  if (!handle)
    return pubsub::error{pubsub::errc::cannot_open_file,
                         fmt::format("interface {}: {}", name, reason.data())};
  pcap_set_snaplen(handle.get(), snap_bytes);
  pcap_set_promisc(handle.get(), 1);
  pcap_set_timeout(handle.get(), delivery_ms);
  pcap_set_buffer_size(handle.get(), kernel_buffer_bytes);
  pcap_set_tstamp_precision(handle.get(), PCAP_TSTAMP_PRECISION_NANO);
  if (const int code = pcap_activate(handle.get()); code < 0)
    return activation_error(handle.get(), name, code);
  // Reading never blocks; next() waits with poll(), which unlike libpcap's own wait is sure to end
  // on an interface where nothing happens.
  if (pcap_setnonblock(handle.get(), 1, reason.data()) != 0)
    return pubsub::error{pubsub::errc::cannot_open_file,
                         fmt::format("interface {}: {}", name, reason.data())};
  capture result{std::move(handle), name, true};
  if (const auto ok = result.check_link_type(); !ok)
    return ok.error();
  return result;
}

pubsub::expected<void> capture::set_filter(const std::string& expression) {
  bpf_program program{};
  int code = pcap_compile(handle_.get(), &program, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN);
  if (code == 0) {
    code = pcap_setfilter(handle_.get(), &program);
    pcap_freecode(&program);
  }
  if (code == 0)
    return {};
  return pubsub::error{pubsub::errc::invalid_argument,
                       fmt::format("filter '{}': {}", expression, pcap_geterr(handle_.get()))};
}

read_state capture::next(captured_frame& frame) {
  pcap_pkthdr* header = nullptr;
  const unsigned char* bytes = nullptr;
  int code = pcap_next_ex(handle_.get(), &header, &bytes);
  if (code == 0 && is_live_) {
    pollfd waiting{pcap_get_selectable_fd(handle_.get()), POLLIN, 0};
    if (poll(&waiting, 1, poll_ms) > 0)
      code = pcap_next_ex(handle_.get(), &header, &bytes);
  }
  if (code == 0)
    return read_state::idle;
  if (code == PCAP_ERROR_BREAK)
    return read_state::end;
  if (code < 0)
    return read_state::broken;
  frame.at = to_timestamp(header->ts, pcap_get_tstamp_precision(handle_.get()));
  frame.bytes = {bytes, header->caplen};
  frame.wire_bytes = header->len;
  return read_state::frame;
}

int capture::link_type() const {
  return pcap_datalink(handle_.get());
}

std::string capture::failure() const {
  return pcap_geterr(handle_.get());
}

std::optional<std::uint64_t> capture::dropped_packets() const {
  pcap_stat stats{};
  if (!is_live_ || pcap_stats(handle_.get(), &stats) != 0)
    return std::nullopt;
  return std::uint64_t{stats.ps_drop} + stats.ps_ifdrop;
}

} // namespace flow_monitor
