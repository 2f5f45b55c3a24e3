// Links of two loops, over real loopback connections whose other ends the test holds.
// SPDX-License-Identifier: BSD-3-Clause
#include "link/written_together.hpp"

#include "link/link.hpp"
#include "support/eventually.hpp"
#include "support/raw_socket.hpp"
#include "transport/event_loop.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <future>
#include <vector>

using namespace pubsub;
using namespace pubsub::test;

namespace {

struct quiet_handler final : link_handler {
  std::size_t on_frames(const intrusive_ptr<chunk>&, std::span<std::byte> frames) override {
    return frames.size();
  }
  void on_closed(const error&) override { closed = true; }
  std::atomic<bool> closed{false};
};

/// As many links on each of two loops.
struct many_links {
  struct end {
    std::shared_ptr<asio::io_context> loop;
    raw_socket peer;
    std::shared_ptr<pubsub::link> carrier;
    std::shared_ptr<quiet_handler> handler = std::make_shared<quiet_handler>();
  };

  explicit many_links(std::size_t count, int buffer_bytes = 0) {
    for (std::size_t i = 0; i < count; ++i) {
      auto loop = io.next();
      auto peer = raw_socket::connect(server.port(), buffer_bytes);
      tcp::socket socket{*loop};
      socket.assign(tcp::v4(), ::dup(server.accept()->fd()));
      auto carrier = std::make_shared<pubsub::link>(
          std::make_shared<connection>(loop, std::move(socket)), queue_options{}, 64 << 20);
      all.push_back({std::move(loop), std::move(peer), std::move(carrier)});
    }
    REQUIRE(io.start());
    for (const auto& each : all)
      asio::post(*each.loop, [&each] { each.carrier->start(each.handler); });
    for (const auto& each : all)
      wait_for(*each.loop);
  }
  ~many_links() {
    for (const auto& each : all)
      each.carrier->close();
    for (const auto& each : all)
      CHECK(eventually([&] { return each.handler->closed.load(); }));
    io.end();
  }

  static void wait_for(asio::io_context& loop) {
    std::promise<void> done;
    asio::post(loop, [&] { done.set_value(); });
    done.get_future().wait();
  }
  /// Nothing on this loop happens meanwhile.
  template <class F>
  static void while_held(asio::io_context& loop, F work) {
    std::promise<void> held;
    std::promise<void> release;
    asio::post(loop, [&] {
      held.set_value();
      release.get_future().wait();
    });
    held.get_future().wait();
    work();
    release.set_value();
    wait_for(loop);
  }
  void push(const intrusive_ptr<message_run>& run) {
    written_together::unless_few(all.size(), [&] {
      for (const auto& each : all)
        each.carrier->out().push_run(run, {});
    });
  }
  std::size_t written() const {
    std::size_t result = 0;
    for (const auto& each : all)
      result += each.carrier->counters().sent;
    return result;
  }

  raw_listener server;
  io_threads io{2};
  std::vector<end> all;
};

/// One message of so many bytes; the run points to the memory.
intrusive_ptr<message_run> message_in(const intrusive_ptr<chunk>& memory, std::size_t bytes) {
  std::memset(store_be(memory->data(), static_cast<std::uint32_t>(bytes - 4)), 7, bytes - 4);
  return message_run::of_frames(memory.get(), memory->data(), {1, bytes});
}

} // namespace

TEST_CASE("a loop with nothing to do writes the links of one that is busy") {
  many_links f{100};
  REQUIRE(f.all[0].loop != f.all[1].loop);
  constexpr std::size_t bytes = 14;
  const auto memory = chunk::make(bytes);
  f.while_held(*f.all[0].loop, [&] {
    f.push(message_in(memory, bytes));
    CHECK(eventually([&] { return f.written() == f.all.size(); }));
  });
  for (auto& each : f.all)
    CHECK(each.peer.read_frame().size() == bytes);
}

TEST_CASE("links whose sockets are full are written to the end by their own loops") {
  constexpr int small_buffer = 64 * 1024;
  constexpr std::size_t bytes = 8 << 20; // more than two sockets hold
  many_links f{20, small_buffer};
  const auto memory = chunk::make(bytes);
  f.push(message_in(memory, bytes));
  CHECK(f.written() == 0);
  for (auto& each : f.all)
    CHECK(each.peer.read_frame().size() == bytes);
  CHECK(eventually([&] { return f.written() == f.all.size(); }));
}

TEST_CASE("a few links are not written together, nor is what comes when the message has gone") {
  constexpr std::size_t few = link_tuning::most_links_written_at_once;
  const auto is_on = [] { return written_together::is_on(); };
  CHECK_FALSE(written_together::unless_few(few, is_on));
  CHECK(written_together::unless_few(few + 1, is_on));
  CHECK(written_together::unless_few(few + 1, [&] {
    CHECK(written_together::unless_few(few, is_on)); // as a part of the same
    CHECK(written_together::unless_few(few + 1, is_on));
    return written_together::is_on();
  }));
  CHECK_FALSE(written_together::is_on());
}
