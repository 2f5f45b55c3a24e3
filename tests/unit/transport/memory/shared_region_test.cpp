// SPDX-License-Identifier: BSD-3-Clause
#include "transport/memory/shared_region.hpp"

#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "support/temporary_folder.hpp"

using namespace pubsub;

namespace {

constexpr std::size_t most = std::size_t{1} << 20;

unique_fd memory(std::size_t bytes, int seals = F_SEAL_SHRINK | F_SEAL_GROW, unsigned flags = 0) {
  unique_fd result{::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags)};
  REQUIRE(result.valid());
  REQUIRE(::ftruncate(result.get(), static_cast<off_t>(bytes)) == 0);
  REQUIRE(::fcntl(result.get(), F_ADD_SEALS, seals) == 0);
  return result;
}

error refusal(unique_fd x) {
  const auto taken = shared_region::take(std::move(x), most);
  return taken ? error{} : taken.error();
}

/// Mappings of this process that shared regions have left.
std::size_t mappings() {
  std::ifstream maps{"/proc/self/maps"};
  std::size_t result = 0;
  for (std::string line; std::getline(maps, line);)
    result += line.find("pubsub-link") != std::string::npos;
  return result;
}

} // namespace

TEST_CASE("both sides of a region see the same two rings, with the directions exchanged") {
  const auto before = mappings();
  {
    auto made = *shared_region::make({.ring_bytes = 10'000});
    CHECK(made.bytes() == 4096 + 2 * 16'384);
    auto taken = *shared_region::take(made.release_fd(), most);
    CHECK(taken.bytes() == made.bytes());
    CHECK(taken.incoming().capacity == 16'384);
    made.outgoing().bytes[5] = std::byte{42};
    CHECK(taken.incoming().bytes[5] == std::byte{42});
    CHECK(taken.incoming().bytes[16'384 + 5] == std::byte{42}); // the same once more
    taken.outgoing().control->written = 7;
    CHECK(made.incoming().control->written == 7);
    CHECK(made.outgoing().control->written == 0);
  }
  CHECK(mappings() == before);
}

TEST_CASE("words and bytes lie where the specification says") {
  const auto made = *shared_region::make({});
  auto* const page = reinterpret_cast<std::byte*>(made.outgoing().control) - 128;
  CHECK(std::memcmp(page, "pubsub-1", 8) == 0);
  std::size_t first = 128;
  for (const auto& ring : {made.outgoing(), made.incoming()}) {
    const auto at = [&](ring_control::word& word) {
      return static_cast<std::size_t>(reinterpret_cast<std::byte*>(&word) - page);
    };
    CHECK(at(ring.control->written) == first);
    CHECK(at(ring.control->begins_at) == first + 8);
    CHECK(at(ring.control->read) == first + 128);
    CHECK(at(ring.control->reader_sleeps) == first + 256);
    CHECK(at(ring.control->writer_sleeps) == first + 384);
    first += 512;
  }
}

TEST_CASE("what is no region is refused, with a reason") {
  CHECK(refusal(unique_fd{}).code() == errc::invalid_data);
  CHECK(refusal(memory(4096 + 2 * 4096, 0)).context() == "not memory of a fixed size");
  CHECK(refusal(memory(4096 + 2 * 4096, F_SEAL_SHRINK)).context() == "not memory of a fixed size");
  CHECK(refusal(memory(0)).context() == "memory without rings");
  CHECK(refusal(memory(4096)).code() == errc::invalid_data);
  CHECK(refusal(memory(4096 + 2 * 4096 + 1)).code() == errc::invalid_data);
  CHECK(refusal(memory(4096 + 2 * 12'288)).code() == errc::invalid_data);
  CHECK(refusal(memory(4096 + 2 * 4096)).context() == "memory of another layout");
  CHECK(refusal(memory(4096 + 4 * most)).code() == errc::limit_exceeded);
  CHECK(refusal(memory(4096 + 2 * 4096, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)).code() ==
        errc::limit_exceeded); // cannot be mapped for writing
}

TEST_CASE("a file on disk is no region") {
  const test::temporary_folder folder;
  const auto path = folder / "file";
  std::ofstream{path} << std::string(4096 + 2 * 4096, ' ');
  CHECK(refusal(unique_fd{::open(path.c_str(), O_RDWR | O_CLOEXEC)}).code() == errc::invalid_data);
}

TEST_CASE("the size of a region that has been made cannot change") {
  auto made = *shared_region::make({});
  const auto fd = made.release_fd();
  CHECK(::ftruncate(fd.get(), 0) != 0);
  CHECK(::ftruncate(fd.get(), 1 << 30) != 0);
}

TEST_CASE("places and pages that the system may not have are only wishes") {
  const auto made = shared_region::make({.pages = memory_pages::huge, .numa_node = 0});
  REQUIRE(made.has_value());
  const auto elsewhere = shared_region::make({.numa_node = 1023});
  CHECK(elsewhere.has_value());
}
