// A limit of the local stream: a ring of pointers between two threads and nothing else. Fresh
// messages are heap blocks made by one thread and freed by the other; a repeated one is one block.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/numbered.hpp"
#include "support/run.hpp"

#include <array>
#include <cstdlib>
#include <memory>
#include <new>

namespace bench {

namespace {

// One thread pushes, one pulls. Each side looks at the other's place only when it seems to be full
// or empty, as a fast ring does.
class pointer_ring {
public:
  void push(std::byte* block) {
    auto at = pushed_.load(std::memory_order_relaxed);
    while (at - pulled_seen_ == slots_.size()) {
      pulled_seen_ = pulled_.load(std::memory_order_acquire);
      if (at - pulled_seen_ == slots_.size())
        std::this_thread::yield();
    }
    slots_[at % slots_.size()] = block;
    pushed_.store(at + 1, std::memory_order_release);
  }

  std::byte* pull() {
    auto at = pulled_.load(std::memory_order_relaxed);
    while (at == pushed_seen_) {
      pushed_seen_ = pushed_.load(std::memory_order_acquire);
      if (at == pushed_seen_)
        std::this_thread::yield();
    }
    auto block = slots_[at % slots_.size()];
    pulled_.store(at + 1, std::memory_order_release);
    return block;
  }

private:
  static constexpr std::size_t line = 64; // bytes that move between cores together

  alignas(line) std::atomic<std::uint64_t> pushed_{0};
  std::uint64_t pulled_seen_ = 0;
  alignas(line) std::atomic<std::uint64_t> pulled_{0};
  std::uint64_t pushed_seen_ = 0;
  alignas(line) std::array<std::byte*, 4096> slots_{};
};

std::byte* copy_to_heap(std::span<const std::byte> message) {
  auto block = static_cast<std::byte*>(std::malloc(message.size()));
  if (block == nullptr)
    throw std::bad_alloc{};
  std::memcpy(block, message.data(), message.size());
  return block;
}

void publish(pointer_ring& ring, run_state& state, const run_options& options) {
  if (!options.repeated())
    return publish_stream(state, options, 0,
                          [&](auto message) { ring.push(copy_to_heap(message)); });
  std::vector<std::byte> shared(options.payload_bytes);
  std::vector<std::byte> last(options.payload_bytes);
  publish_stream(state, options, 0, [&](auto message) {
    if (number_of(message.data()) != end_mark)
      return ring.push(shared.data());
    std::memcpy(last.data(), &end_mark, sizeof end_mark);
    ring.push(last.data());
  });
}

void subscribe(pointer_ring& ring, run_state& state, const run_options& options) {
  numbered_sink sink{state, options};
  bool fresh = !options.repeated();
  for (bool more = true; more;) {
    auto block = ring.pull();
    more = sink.take(block);
    if (fresh)
      std::free(block);
  }
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse_options(argc, argv, "A bare ring of pointers between two threads.");
  if (!options.local())
    return report_unavailable("bare ring", "a ring has no relays");
  auto ring = std::make_unique<pointer_ring>();
  return run("bare ring", "", options,
             {.subscribe = [&](run_state& state) { subscribe(*ring, state, options); },
              .relay = {},
              .publish = [&](run_state& state) { publish(*ring, state, options); }});
}
