// One link over a real loopback connection, the test holding the other end.
// SPDX-License-Identifier: BSD-3-Clause
#include "link/link.hpp"

#include "link/left_writing.hpp"
#include "support/allocations.hpp"
#include "support/eventually.hpp"
#include "support/raw_socket.hpp"
#include "transport/event_loop.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <future>
#include <mutex>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// Keeps whole copies of what arrives.
struct recorder final : link_handler {
  std::size_t on_frames(const intrusive_ptr<chunk>&, std::span<std::byte> frames) override {
    std::lock_guard lock{mutex};
    if (take_one_frame)
      frames = frames.first(4 + load_be<std::uint32_t>(frames.data()));
    bytes.insert(bytes.end(), frames.begin(), frames.end());
    ++batches;
    if (on_batch)
      on_batch();
    return frames.size();
  }
  void on_closed(const error& why) override {
    std::lock_guard lock{mutex};
    reason = why;
    closed = true;
  }
  template <class F>
  auto with(F f) {
    std::lock_guard lock{mutex};
    return f();
  }
  std::size_t size() {
    return with([&] { return bytes.size(); });
  }
  bool is_closed() {
    return with([&] { return closed; });
  }

  std::mutex mutex; // guards everything below
  buffer bytes;
  int batches = 0;
  bool closed = false;
  error reason;
  std::function<void()> on_batch;
  bool take_one_frame = false;
};

struct loopback_link {
  explicit loopback_link(std::uint32_t max_frame_bytes = 64 << 20,
                         const queue_options& options = {})
      : loop(io.next()), peer(raw_socket::connect(server.port(), small_buffer)) {
    tcp::socket socket{*loop};
    socket.assign(tcp::v4(), ::dup(server.accept()->fd()));
    carrier = std::make_shared<pubsub::link>(std::make_shared<connection>(loop, std::move(socket)),
                                             options, max_frame_bytes);
    REQUIRE(io.start());
    on_loop([&] { carrier->start(handler); });
  }
  ~loopback_link() {
    carrier->close();
    CHECK(eventually([&] { return handler->is_closed(); }));
    io.end();
  }
  /// Runs `work` where the link lives, and waits for it.
  template <class F>
  void on_loop(F work) {
    std::promise<void> done;
    asio::post(*loop, [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void push(std::size_t payload_bytes, std::uint8_t fill = 7) {
    auto memory = chunk::make(4 + payload_bytes);
    std::memset(store_be(memory->data(), static_cast<std::uint32_t>(payload_bytes)), fill,
                payload_bytes);
    const auto run = message_run::of_frames(memory.get(), memory->data(), {1, 4 + payload_bytes});
    carrier->out().wait_for_room({});
    carrier->out().push_run(run, {});
  }

  static constexpr int small_buffer = 64 * 1024;
  raw_listener server;
  io_threads io{1};
  std::shared_ptr<asio::io_context> loop;
  raw_socket peer;
  std::shared_ptr<pubsub::link> carrier;
  std::shared_ptr<recorder> handler = std::make_shared<recorder>();
};

buffer frame(std::size_t payload_bytes, std::uint8_t fill = 1) {
  buffer out(4 + payload_bytes, std::byte{fill});
  store_be(out.data(), static_cast<std::uint32_t>(payload_bytes));
  return out;
}

} // namespace

TEST_CASE("frames split at every byte boundary arrive whole and in order") {
  loopback_link f;
  buffer stream;
  for (std::size_t size : {5, 0, 1, 300, 2})
    for (auto byte : frame(size, static_cast<std::uint8_t>(size)))
      stream.push_back(byte);
  std::size_t sent = 0;
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    CHECK(f.peer.send(std::span{stream}.first(cut)));
    if (cut % 16 == 0) // now and then the pieces really arrive apart
      CHECK(eventually([&] { return f.carrier->counters().bytes_received == sent + cut; }));
    CHECK(f.peer.send(std::span{stream}.subspan(cut)));
    sent += stream.size();
  }
  CHECK(eventually([&] { return f.handler->size() == sent; }));
  for (std::size_t at = 0; at < sent; at += stream.size())
    CHECK(std::equal(stream.begin(), stream.end(),
                     f.handler->bytes.begin() + static_cast<std::ptrdiff_t>(at)));
}

TEST_CASE("an announced length beyond the limit closes the link without allocating for it") {
  loopback_link f{1000};
  CHECK(f.peer.send(frame(1000)));
  CHECK(eventually([&] { return f.handler->size() == 1004; }));
  const auto before = allocations_of_all_threads();
  CHECK(f.peer.send("7fffffff 00"));
  CHECK(eventually([&] { return f.handler->is_closed(); }));
  CHECK(f.handler->reason == errc::limit_exceeded);
  CHECK(allocations_of_all_threads() - before < 1000);
  CHECK(f.peer.closed_by_peer());
}

TEST_CASE("a frame that announces much and brings little costs little") {
  loopback_link f;
  CHECK(f.peer.send("03ffffff 0102"));
  CHECK(eventually([&] { return f.carrier->counters().bytes_received == 6; }));
  f.peer.close();
  CHECK(eventually([&] { return f.handler->is_closed(); }));
  CHECK(f.handler->size() == 0);
}

TEST_CASE("a frame of 20 MB passes both ways") {
  loopback_link f;
  const auto large = frame(20'000'000, 3);
  CHECK(f.peer.send(large));
  CHECK(eventually([&] { return f.handler->size() == large.size(); }));
  CHECK((f.handler->bytes == large));
  f.push(20'000'000, 3);
  CHECK((f.peer.read_frame() == large));
  CHECK(eventually([&] { return f.carrier->counters().sent == 1; }));
}

TEST_CASE("the limit raised by a frame holds for the one read together with it") {
  loopback_link f{100};
  f.handler->on_batch = [&] { f.carrier->begin_messages(1, {}, 5000); };
  auto both = frame(10);
  const auto second = frame(4000);
  both.insert(both.end(), second.begin(), second.end());
  CHECK(f.peer.send(both));
  CHECK(eventually([&] { return f.handler->size() == both.size() || f.handler->is_closed(); }));
  CHECK((f.handler->bytes == both));
}

TEST_CASE("a paused link stops reading, and goes on when the last pause ends") {
  loopback_link f;
  f.handler->on_batch = [&] {
    f.carrier->gate().pause();
    f.carrier->gate().pause();
    f.handler->on_batch = {};
  };
  CHECK(f.peer.send(frame(10)));
  CHECK(eventually([&] { return f.handler->size() == 14; }));
  while (f.peer.send(frame(60'000), std::chrono::milliseconds{50})) {
  } // until all buffers are full: nobody reads
  CHECK(f.handler->size() == 14);
  f.carrier->gate().resume();
  f.on_loop([] {});
  CHECK(f.handler->size() == 14);
  f.carrier->gate().resume();
  CHECK(eventually([&] { return f.handler->size() > 14; }));
}

TEST_CASE("frames that are not taken since the link rests come again when it goes on, in order") {
  loopback_link f;
  f.handler->take_one_frame = true;
  f.handler->on_batch = [&] { f.carrier->pause_reading(std::chrono::milliseconds{1}); };
  buffer sent;
  for (std::uint8_t i = 0; i < 20; ++i)
    for (const auto each : frame(100, i))
      sent.push_back(each);
  const auto cut = sent.size() - 50; // the last frame comes in two parts
  CHECK(f.peer.send(std::span{sent}.first(cut)));
  CHECK(eventually([&] { return f.handler->size() == 19 * frame(100).size(); }));
  CHECK(f.peer.send(std::span{sent}.subspan(cut)));
  CHECK(eventually([&] { return f.handler->size() == sent.size(); }));
  CHECK(f.handler->with([&] { return f.handler->bytes; }) == sent);
  CHECK(f.handler->with([&] { return f.handler->batches; }) == 20);
}

TEST_CASE("frames keep their order and content when the reader is slow") {
  loopback_link f{64 << 20, {overflow_policy::block, 16, 1 << 20}};
  std::thread producer{[&] {
    for (int i = 0; i < 300; ++i)
      f.push(static_cast<std::size_t>(i * 100), static_cast<std::uint8_t>(i));
  }};
  for (int i = 0; i < 300; ++i)
    CHECK((f.peer.read_frame() ==
           frame(static_cast<std::size_t>(i * 100), static_cast<std::uint8_t>(i))));
  producer.join();
  CHECK(eventually([&] { return f.carrier->counters().sent == 300; }));
  CHECK(f.carrier->counters().dropped() == 0);
}

TEST_CASE("closing when written sends everything first") {
  loopback_link f;
  for (int i = 0; i < 100; ++i)
    f.push(50'000);
  f.carrier->close_when_written();
  for (int i = 0; i < 100; ++i)
    CHECK(f.peer.read_frame().size() == 50'004);
  CHECK(f.peer.closed_by_peer());
  CHECK(eventually([&] { return f.handler->is_closed(); }));
  CHECK(f.handler->reason == errc::none);
  CHECK(f.carrier->counters().sent == 100);
}

TEST_CASE("what a vanished peer did not get is counted as gone") {
  loopback_link f{64 << 20, {overflow_policy::drop_newest, 100'000, 1 << 30}};
  for (int i = 0; i < 200; ++i)
    f.push(100'000);
  f.peer.close();
  CHECK(eventually([&] { return f.handler->is_closed(); }));
  CHECK(f.handler->reason == errc::peer_unavailable);
  f.push(10);
  const auto now = f.carrier->counters();
  CHECK(now.offered == 201);
  CHECK(now.dropped_gone > 0);
  CHECK(now.offered == now.sent + now.dropped());
  CHECK(now.queued == 0);
}

TEST_CASE("who publishes writes to an idle link, unless it leaves that to the loop") {
  loopback_link f;
  const auto while_the_loop_is_held = [&](auto work) {
    std::promise<void> held;
    std::promise<void> release;
    asio::post(*f.loop, [&] {
      held.set_value();
      release.get_future().wait();
    });
    held.get_future().wait();
    work();
    release.set_value();
    f.on_loop([] {});
  };
  while_the_loop_is_held([&] {
    const left_writing to_the_loop;
    f.push(10);
    CHECK(f.carrier->counters().bytes_sent == 0);
  });
  CHECK(eventually([&] { return f.carrier->counters().bytes_sent == 14; }));

  using clock = std::chrono::steady_clock;
  const auto idle = clock::now() + std::chrono::milliseconds{1};
  while_the_loop_is_held([&] {
    while (clock::now() < idle)
      std::this_thread::yield();
    f.push(10);
    CHECK(f.carrier->counters().bytes_sent == 28);
  });
}

TEST_CASE("closing at once ends a blocked publisher") {
  loopback_link f{64 << 20, {overflow_policy::block, 1, 1 << 20}};
  std::thread publisher{[&] {
    while (!f.handler->is_closed())
      f.push(1'000'000);
  }};
  CHECK(eventually([&] { return f.carrier->counters().queued > 0; }));
  f.carrier->close({errc::peer_timeout, "test"});
  publisher.join();
  CHECK(f.handler->reason == errc::peer_timeout);
}

TEST_CASE("a link that is closed before it starts tells its handler all the same") {
  raw_listener server;
  io_threads io{1};
  auto loop = io.next();
  auto peer = raw_socket::connect(server.port());
  tcp::socket socket{*loop};
  socket.assign(tcp::v4(), ::dup(server.accept()->fd()));
  auto carrier = std::make_shared<pubsub::link>(
      std::make_shared<connection>(loop, std::move(socket)), queue_options{}, 1000);
  auto handler = std::make_shared<recorder>();
  carrier->close();
  REQUIRE(io.start());
  asio::post(*loop, [&] { carrier->start(handler); });
  CHECK(eventually([&] { return handler->is_closed(); }));
  CHECK(peer.closed_by_peer());
  io.end();
}
