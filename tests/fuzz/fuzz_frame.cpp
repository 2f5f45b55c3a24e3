// Any bytes as what a connection brings: whole frames are handed on as they came, in whatever
// pieces; one that is too long ends the link at its length, and a Broker before 2.3 at its first
// bytes. The first byte picks the version, the second the pieces.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "base/bytes.hpp"
#include "link/link.hpp"

#include <algorithm>

namespace pubsub::fuzz {

namespace {

constexpr std::uint32_t max_frame_bytes = 16 * 1024 * 1024;

/// Gives out `bytes` in pieces; then waits.
class scripted_connection final : public connection {
public:
  scripted_connection(std::shared_ptr<asio::io_context> loop, std::span<const std::byte> bytes,
                      std::size_t piece_bytes)
      : connection(loop, tcp::socket{*loop}), rest_(bytes), piece_bytes_(piece_bytes) {}

  void read_some(asio::mutable_buffer into, handler on_done) override {
    const auto size = std::min({into.size(), piece_bytes_, rest_.size()});
    if (size == 0)
      return;
    std::memcpy(into.data(), rest_.data(), size);
    rest_ = rest_.subspan(size);
    asio::post(*loop_, [on_done = std::move(on_done), size] { on_done({}, size); });
  }
  std::size_t try_write(std::span<const asio::const_buffer> from) noexcept override {
    return asio::buffer_size(from);
  }
  void write_some(std::span<const asio::const_buffer>, handler) override {}
  void close() noexcept override {}
  bool encrypted() const noexcept override { return false; }

private:
  std::span<const std::byte> rest_;
  std::size_t piece_bytes_;
};

struct recorder final : link_handler {
  std::size_t on_frames(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) override {
    bytes.insert(bytes.end(), frames.begin(), frames.end());
    if (kept.size() > 2)
      kept.clear();
    if (bytes.size() % 3 != 0)
      kept.push_back(owner); // as messages do that are slices of a buffer
    return frames.size();
  }
  void on_closed(const error& why) override { reason = why; }

  std::vector<std::byte> bytes;
  std::vector<intrusive_ptr<chunk>> kept;
  std::optional<error> reason;
};

struct expectation {
  std::size_t whole = 0; ///< bytes of the frames before the end, or before one that is too long
  errc reason = errc::none;
};

/// A record of TLS: its type, and the version.
bool begins_with_tls(std::span<const std::byte> bytes) {
  const auto type = std::to_integer<int>(bytes[0]);
  return type >= 20 && type <= 23 && bytes[1] == std::byte{3} && bytes[2] <= std::byte{4};
}

/// The frames of `bytes`, found in the simplest way.
expectation frames_in(std::span<const std::byte> bytes, bool version_2) {
  constexpr std::uint32_t flag = 0x8000'0000;
  constexpr std::byte old_broker[]{std::byte{1}, {}, {}, {}, {}};
  expectation x;
  if (bytes.size() >= 5 && std::ranges::equal(bytes.first(5), old_broker))
    return {0, errc::peer_incompatible};
  while (bytes.size() - x.whole >= 4) {
    auto size = load_be<std::uint32_t>(bytes.data() + x.whole);
    if (version_2)
      size &= ~flag;
    if (size > max_frame_bytes)
      x.reason = x.whole == 0 && begins_with_tls(bytes) ? errc::tls_failed : errc::limit_exceeded;
    if (x.reason != errc::none || bytes.size() - x.whole - 4 < size)
      return x;
    x.whole += 4 + size;
  }
  return x;
}

void try_input(std::span<const std::byte> bytes) {
  if (bytes.size() < 2)
    return;
  const bool version_2 = (bytes[0] & std::byte{1}) != std::byte{};
  const auto piece_bytes = std::max<std::size_t>(std::to_integer<unsigned>(bytes[1]), 1);
  const auto stream = bytes.subspan(2);
  const memory_bound bound{8 * 1024 * 1024 + 1024 * stream.size()}; // a few buffers of 256 KiB
  const auto loop = std::make_shared<asio::io_context>(1);
  const auto handler = std::make_shared<recorder>();
  const auto subject = std::make_shared<pubsub::link>(
      std::make_shared<scripted_connection>(loop, stream,
                                            piece_bytes == 255 ? stream.size() : piece_bytes),
      queue_options{}, max_frame_bytes);
  subject->begin_messages(version_2 ? 2 : 1, {}, max_frame_bytes);
  subject->start(handler);
  loop->run();
  const auto expected = frames_in(stream, version_2);
  check(std::ranges::equal(handler->bytes, stream.first(expected.whole)),
        "frames are handed on whole, in order, and as they came");
  check(handler->reason.has_value() == (expected.reason != errc::none), "only those end it");
  if (handler->reason)
    check(*handler->reason == expected.reason, "the reason is right");
  handler->kept.clear();
  subject->close();
  loop->restart();
  loop->run();
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
