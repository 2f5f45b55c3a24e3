// Peers that write what they like into the memory that they share with a node.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/temporary_folder.hpp"

#include <atomic>
#include <fstream>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

struct region {
  std::uintptr_t begin;
  std::uintptr_t end;
  auto operator<=>(const region&) const = default;
};

/// What this process has mapped of memory that links share.
std::set<region> regions() {
  std::set<region> result;
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:pubsub-link") == std::string::npos)
      continue;
    const auto dash = line.find('-');
    result.insert({std::stoul(line.substr(0, dash), nullptr, 16),
                   std::stoul(line.substr(dash + 1), nullptr, 16)});
  }
  return result;
}

/// The same memory once more, so that it is there as long as this: where a link had it, the process
/// may have anything else once that link has ended.
class second_view {
public:
  explicit second_view(const region& of) : size_{of.end - of.begin} {
    // An old size of 0 leaves the first where it is.
    at_ = ::mremap(reinterpret_cast<void*>(of.begin), 0, size_, MREMAP_MAYMOVE);
    REQUIRE(at_ != MAP_FAILED);
  }
  second_view(second_view&& other) noexcept
      : at_{std::exchange(other.at_, MAP_FAILED)}, size_{other.size_} {}
  ~second_view() {
    if (at_ != MAP_FAILED)
      ::munmap(at_, size_);
  }

  std::size_t size() const { return size_; }
  /// By the kernel, as another process would.
  bool write(std::size_t offset, std::span<const std::byte> what) const {
    const iovec from{const_cast<std::byte*>(what.data()), what.size()};
    const iovec to{static_cast<std::byte*>(at_) + offset, what.size()};
    return ::process_vm_writev(::getpid(), &from, 1, &to, 1, 0) == std::ssize(what);
  }

private:
  void* at_ = MAP_FAILED;
  std::size_t size_ = 0;
};

/// Writes to random places of these regions until it ends, mostly where the positions are.
class scribbler {
public:
  scribbler(std::vector<second_view> where, unsigned seed)
      : thread_{[this, where = std::move(where), seed](const std::stop_token& end) {
          std::minstd_rand random{seed};
          while (!end.stop_requested()) {
            const auto& at = where[random() % where.size()];
            const auto size = at.size();
            const std::uint64_t word =
                random() % 2 ? random() % 4096 : random() * std::uint64_t{random()};
            const auto offset = random() % 4 ? random() % (size - 8) : random() % 1100 / 8 * 8;
            if (at.write(offset, std::as_bytes(std::span{&word, 1})))
              ++written_;
          }
        }} {}
  std::uint64_t written() const { return written_; }

private:
  std::atomic<std::uint64_t> written_{0};
  std::jthread thread_;
};

endpoint_options small_rings() {
  endpoint_options result;
  result.memory.ring_bytes = 4096;
  return result;
}

/// Publishes until the end, whether it is taken or not.
std::jthread publish_all_the_time(endpoint& from) {
  return std::jthread{[&from](const std::stop_token& end) {
    const std::string text(300, 'x');
    while (!end.stop_requested())
      static_cast<void>(from.publish_for("/wild", text, 1ms));
  }};
}

std::uint64_t shared_with(const endpoint& node, const endpoint_id& peer) {
  for (const auto& each : node.peers())
    if (each.id == peer)
      return each.held.shared_memory;
  return 0;
}

} // namespace

TEST_CASE("a peer that writes anything into shared memory at any time ends at most its own link") {
  temporary_folder folder;
  endpoint node{small_rings()};
  const auto where = "unix://" + (folder / "node.sock");
  REQUIRE(node.listen(where));
  auto wild = node.make_subscriber({"/wild"}, {overflow_policy::drop_oldest, 1000, 1 << 20});
  auto honest_ones = node.make_subscriber({"/honest"});

  std::uint64_t links_that_ended = 0;
  std::uint64_t next = 0;
  for (unsigned round = 0; round < 100; ++round) {
    endpoint honest{small_rings()};
    const auto before = regions();
    endpoint liar{small_rings()};
    REQUIRE(liar.peer(where, {.retry = {}, .timeout = patience}));
    REQUIRE(liar.wait_for_subscribers("/wild", 1, patience));
    const auto publishing = publish_all_the_time(liar);
    REQUIRE(eventually([&] { return shared_with(node, liar.id()) > 0; }));
    std::vector<second_view> shared;
    for (const auto& each : regions())
      if (!before.contains(each))
        shared.emplace_back(each);
    REQUIRE(!shared.empty());
    REQUIRE(honest.peer(where, {.retry = {}, .timeout = patience}));
    REQUIRE(honest.wait_for_subscribers("/honest", 1, patience));
    const scribbler lies{std::move(shared), round};
    for (std::uint64_t i = 0; i < 2000; ++i)
      sent(honest.publish_for("/honest", count{next + i}, patience));
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const auto got = honest_ones.get_for(patience);
      REQUIRE(got.has_value());
      REQUIRE(get_data(*got) == data{count{next++}});
    }
    REQUIRE(eventually([&] { return lies.written() > 1000; }));
    while (auto got = wild.try_get())
      static_cast<void>(get_data(*got)); // is decoded, whatever it is
    links_that_ended += shared_with(node, liar.id()) == 0;
  }
  CHECK(links_that_ended > 0); // of some it was noticed
  CHECK(eventually([&] { return node.peers().empty(); }));
  CHECK(eventually([&] { return regions().empty(); }));
}
