// Any bytes as what a connection brings: whole frames are handed on as they came, in whatever
// pieces, and one that is too long ends the link at its length. The first byte picks the version,
// the second the pieces.
#include "fuzz/check.hpp"
#include "fuzz/golden_seeds.hpp"
#include "fuzz/target.hpp"

#include "base/bytes.hpp"
#include "link/link.hpp"

#include <algorithm>

namespace pubsub::fuzz {

namespace {

constexpr std::uint32_t max_frame_bytes = 2000;

/// Gives out `bytes` in pieces; then waits.
class scripted_connection final : public connection {
public:
  scripted_connection(std::shared_ptr<asio::io_context> loop, std::span<const std::byte> bytes,
                      std::size_t piece_bytes)
      : loop_(std::move(loop)), rest_(bytes), piece_bytes_(piece_bytes) {}

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
  network_info remote() const override { return {}; }
  const std::shared_ptr<asio::io_context>& loop() const noexcept override { return loop_; }

private:
  std::shared_ptr<asio::io_context> loop_;
  std::span<const std::byte> rest_;
  std::size_t piece_bytes_;
};

struct recorder final : link_handler {
  void on_frames(const frame_batch& frames) override {
    bytes.insert(bytes.end(), frames.bytes.begin(), frames.bytes.end());
    if (bytes.size() % 3 == 0)
      kept.push_back(frames.owner); // as messages do that are slices of a buffer
  }
  void on_closed(const error& why) override { reason = why; }

  std::vector<std::byte> bytes;
  std::vector<intrusive_ptr<chunk>> kept;
  std::optional<error> reason;
};

struct expectation {
  std::size_t whole = 0; ///< bytes of the frames before the end, or before one that is too long
  bool too_long = false;
};

/// The frames of `bytes`, found in the simplest way.
expectation frames_in(std::span<const std::byte> bytes, bool version_2) {
  constexpr std::uint32_t flag = 0x8000'0000;
  constexpr std::uint32_t max_batch_bytes = 65'600;
  expectation x;
  while (bytes.size() - x.whole >= 4) {
    auto size = load_be<std::uint32_t>(bytes.data() + x.whole);
    auto limit = max_frame_bytes;
    if (version_2 && (size & flag) != 0) {
      size &= ~flag;
      limit = max_batch_bytes;
    }
    x.too_long = size > limit;
    if (x.too_long || bytes.size() - x.whole - 4 < size)
      return x;
    x.whole += 4 + size;
  }
  return x;
}

} // namespace

void try_input(std::span<const std::byte> bytes) {
  if (bytes.size() < 2)
    return;
  const bool version_2 = (bytes[0] & std::byte{1}) != std::byte{};
  const auto piece_bytes = std::max<std::size_t>(std::to_integer<unsigned>(bytes[1]), 1);
  const auto stream = bytes.subspan(2);
  const memory_bound bound{8 * 1024 * 1024 + 1024 * stream.size()}; // a few buffers of 256 KiB
  const auto loop = std::make_shared<asio::io_context>(1);
  const auto handler = std::make_shared<recorder>();
  const auto subject =
      pubsub::link::make(std::make_unique<scripted_connection>(
                             loop, stream, piece_bytes == 255 ? stream.size() : piece_bytes),
                         {}, {max_frame_bytes});
  subject->begin_messages(version_2 ? 2 : 1, {}, {max_frame_bytes});
  subject->start(handler);
  loop->run();
  const auto expected = frames_in(stream, version_2);
  check(std::ranges::equal(handler->bytes, stream.first(expected.whole)),
        "frames are handed on whole, in order, and as they came");
  check(handler->reason.has_value() == expected.too_long, "only a frame that is too long ends it");
  if (handler->reason)
    check(*handler->reason == errc::limit_exceeded, "the reason is the limit");
  handler->kept.clear();
  subject->close();
  loop->restart();
  loop->run();
}

std::vector<std::string> seeds() {
  std::string all;
  for (const auto& each : test::load_golden("wire_messages.json")) {
    std::byte length[4];
    store_be(length, static_cast<std::uint32_t>(each.bytes.size()));
    all += std::string{reinterpret_cast<const char*>(length), 4} + as_text(each.bytes);
  }
  const std::string long_one = from_hex("000007d0") + std::string(2000, 'x');
  const std::string batch = from_hex("80000bb8") + std::string(3000, 'x');
  std::vector<std::string> out;
  for (const auto* choice : {"00ff", "01ff", "0001", "0107", "00c8"})
    for (const auto& stream :
         {all, long_one + all, batch + all, all + from_hex("000007d1"), all + from_hex("7fffffff"),
          all + from_hex("ffffffff"), from_hex("00000000 00000000 00000001 07 0000")})
      out.push_back(from_hex(choice) + stream);
  return out;
}

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (const auto* hex : {"00000000", "00000001", "80000001", "000007d0", "000007d1", "80010040",
                          "80010041", "7fffffff"})
    out.push_back(from_hex(hex));
  return out;
}

} // namespace pubsub::fuzz
