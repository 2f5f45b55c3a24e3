// What every transport has to do: TCP, TLS, and sockets of the host.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// Where endpoints listen and connect.
class addresses {
public:
  addresses(std::string scheme, shared_memory use) : scheme_(std::move(scheme)), memory_(use) {}

  /// Of an endpoint that is to use this transport.
  endpoint_options options(std::uint8_t version = 2) const {
    auto result = speaking(version);
    result.memory.use = memory_;
    return result;
  }

  /// Listens at an address of its own; where to connect to.
  std::string listen(endpoint& ep) {
    if (scheme_ == "unix")
      return listen_again(ep, "unix://" + (folder_ / (std::to_string(++last_) + ".sock")));
    return listen_again(ep, scheme_ + "://127.0.0.1:0");
  }
  std::string listen_again(endpoint& ep, const std::string& where) const {
    const auto port = ep.listen(where);
    REQUIRE_MESSAGE(port.has_value(), port.error().context());
    if (scheme_ == "unix")
      return where;
    return scheme_ + "://127.0.0.1:" + std::to_string(*port);
  }
  void join(endpoint& from, endpoint& to) {
    REQUIRE(from.peer(listen(to), once).has_value());
    REQUIRE(to.wait_for_peer(from.id(), patience));
  }

private:
  const std::string scheme_;
  const shared_memory memory_;
  temporary_folder folder_;
  int last_ = 0;
};

template <class Test>
void for_every_transport(Test test) {
  for (const auto* scheme : {"tcp", "tls", "unix"}) {
    CAPTURE(scheme);
    addresses at{scheme, shared_memory::on};
    test(at);
  }
  INFO("unix, by its socket alone");
  addresses at{"unix", shared_memory::off};
  test(at);
}

} // namespace

TEST_CASE("over every transport, in both versions, every message arrives once and in order") {
  for_every_transport([](addresses& at) {
    for (const std::uint8_t version : {1, 2}) {
      CAPTURE(version);
      endpoint a{at.options(version)};
      endpoint relay{at.options(version)};
      endpoint b{at.options(version)};
      at.join(a, relay);
      at.join(relay, b);
      auto sub = b.make_subscriber({"/t"});
      REQUIRE(sub.wait_ready(patience));
      REQUIRE(a.wait_for_subscribers("/t", 1, patience));
      std::jthread sending{[&] {
        for (std::uint64_t i = 0; i < 100'000; ++i)
          sent(a.publish_for("/t", count{i}, patience));
      }};
      CHECK(receives_in_order(sub, 100'000));
    }
  });
}

TEST_CASE("over every transport messages of all sizes arrive whole, in both versions") {
  for_every_transport([](addresses& at) {
    for (const std::uint8_t version : {1, 2}) {
      CAPTURE(version);
      endpoint a{at.options(version)};
      endpoint b{at.options(version)};
      auto at_a = a.make_subscriber({"/a"});
      auto at_b = b.make_subscriber({"/b"});
      at.join(a, b);
      REQUIRE(a.wait_for_subscribers("/b", 1, patience));
      REQUIRE(b.wait_for_subscribers("/a", 1, patience));
      std::mt19937 engine{version};
      for (const std::size_t size : {1U, 16'000U, 16'384U, 16'385U, 1'000'000U, 20'000'000U}) {
        CAPTURE(size);
        std::string text(size, '\0');
        for (auto& each : text)
          each = static_cast<char>('a' + engine() % 26);
        sent(a.publish_for("/b", text, patience));
        sent(b.publish_for("/a", text, patience));
        for (auto* each : {&at_a, &at_b}) {
          const auto msg = each->get_for(patience);
          REQUIRE(msg);
          CHECK((get_data(*msg) == data{text}));
        }
      }
    }
  });
}

TEST_CASE("over every transport a slow subscriber slows its publisher down, and nothing is lost") {
  for_every_transport([](addresses& at) {
    auto options = at.options();
    options.link_queue = {overflow_policy::block, 100, 1 << 20};
    endpoint a{options};
    endpoint b{options};
    auto sub = b.make_subscriber({"/t"}, {overflow_policy::block, 10, 1 << 20});
    at.join(a, b);
    REQUIRE(a.wait_for_subscribers("/t", 1, patience));
    const std::string text(100'000, 'x');
    std::uint64_t taken = 0;
    while (a.publish_for("/t", text, 200ms) == publish_result::taken)
      REQUIRE(++taken < 1000);
    for (std::uint64_t n = 0; n < taken; ++n)
      REQUIRE(sub.get_for(patience).has_value());
  });
}

TEST_CASE(
    "over every transport both sides see a goodbye, and what was published before it arrives") {
  for_every_transport([](addresses& at) {
    endpoint a{at.options()};
    endpoint b{at.options()};
    auto sub = b.make_subscriber({"/t"});
    at.join(a, b);
    REQUIRE(a.wait_for_subscribers("/t", 1, patience));
    auto events = b.make_status_subscriber();
    for (std::uint64_t i = 0; i < 20'000; ++i)
      sent(a.publish("/t", count{i}));
    CHECK(a.unpeer(b.id()));
    CHECK(receives_in_order(sub, 20'000));
    CHECK(eventually([&] { return b.peers().empty(); }));
    CHECK(events.get_for(patience)->code() == status_code::peer_lost);
  });
}

TEST_CASE("over every transport a peer that was lost is connected to again") {
  for_every_transport([](addresses& at) {
    endpoint a{at.options()};
    auto b = std::make_unique<endpoint>(at.options());
    const auto where = at.listen(*b);
    REQUIRE(a.peer(where, soon));
    const auto first = b->id();
    b = std::make_unique<endpoint>(at.options());
    CHECK(eventually([&] { return !a.wait_for_peer(first, 0s); }));
    at.listen_again(*b, where);
    CHECK(a.wait_for_peer(b->id(), patience));
    REQUIRE(b->wait_for_peer(a.id(), patience));
    if (where.starts_with("unix://"))
      CHECK(to_string(*b->peers().front().network) == where);
  });
}

TEST_CASE("over every transport an address that is taken, or leads nowhere, is an error that "
          "names it") {
  for_every_transport([](addresses& at) {
    endpoint a{at.options()};
    endpoint b{at.options()};
    const auto where = at.listen(a);
    const auto taken = b.listen(where);
    CHECK(taken.error() == errc::address_in_use);
    const auto name = where.starts_with("tcp://") ? where.substr(6) : where;
    CHECK(taken.error().context().find(name) != std::string::npos);
    REQUIRE(b.peer(where, once)); // what listens there is not disturbed
    CHECK(b.unpeer(where));
    a.close();
    const auto failed = b.peer(where, once);
    CHECK(failed.error() == errc::peer_unavailable);
    CHECK(failed.error().context().find(name) != std::string::npos);
  });
}

TEST_CASE("over every transport a thread that waits serves the links itself") {
  for_every_transport([](addresses& at) {
    endpoint a{at.options()};
    endpoint b{at.options()};
    auto sub = b.make_subscriber({"/t"});
    at.join(a, b);
    REQUIRE(a.wait_for_subscribers("/t", 1, patience));
    for (std::uint64_t i = 0; i < 500; ++i) {
      sent(a.publish("/t", count{i}));
      CHECK(next_number(sub) == i);
    }
  });
}

TEST_CASE("a busy link within the host shares memory if both sides want that, and says how much") {
  for (const auto& [from, to] : {std::pair{shared_memory::on, shared_memory::on},
                                 {shared_memory::on, shared_memory::off},
                                 {shared_memory::off, shared_memory::on}}) {
    const addresses one{"unix", from};
    addresses other{"unix", to};
    auto options = one.options();
    options.memory.ring_bytes = 100'000;
    endpoint a{options};
    endpoint b{other.options()};
    auto sub = b.make_subscriber({"/t"});
    other.join(a, b);
    REQUIRE(a.wait_for_subscribers("/t", 1, patience));
    const auto shared = [](const endpoint& ep) { return ep.peers().front().held.shared_memory; };
    CHECK(shared(a) == 0); // it has said little so far
    for (std::uint64_t i = 0; i < 100'000; ++i)
      sent(a.publish_for("/t", count{i}, patience));
    CHECK(receives_in_order(sub, 100'000));
    const std::uint64_t wanted = from == to ? 4096 + 2 * 131'072 : 0;
    CHECK(eventually([&] { return shared(a) == wanted && shared(b) == wanted; }));
    CHECK(a.status_text().find("\"shared_memory\":" + std::to_string(wanted)) != std::string::npos);
  }
}

TEST_CASE("a socket of the host goes with its endpoint, and one that was left behind is replaced") {
  temporary_folder folder;
  const auto path = folder / "node.sock";
  {
    endpoint a;
    const auto port = a.listen("unix://" + path);
    REQUIRE(port);
    CHECK(*port == 0);
    CHECK(std::filesystem::is_socket(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  sockaddr_un where{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(where.sun_path, sizeof where.sun_path - 1);
  const auto left_behind = ::socket(AF_UNIX, SOCK_STREAM, 0); // as by a process that was killed
  REQUIRE(::bind(left_behind, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
  REQUIRE(::listen(left_behind, 1) == 0);
  ::close(left_behind);
  CHECK(std::filesystem::is_socket(path));
  endpoint b;
  endpoint c;
  CHECK(b.listen("unix://" + path));
  CHECK(c.peer("unix://" + path, once));
}

TEST_CASE("a file that is no socket is not replaced") {
  temporary_folder folder;
  const auto path = folder / "notes";
  std::ofstream{path} << "precious";
  endpoint a;
  CHECK(a.listen("unix://" + path).error() == errc::address_in_use);
  CHECK(std::filesystem::file_size(path) == 8);
}

TEST_CASE("a socket of the host has the permissions that the umask leaves") {
  temporary_folder folder;
  const auto path = folder / "node.sock";
  const auto before = ::umask(0027);
  endpoint a;
  REQUIRE(a.listen("unix://" + path));
  ::umask(before);
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_all | std::filesystem::perms::group_read |
         std::filesystem::perms::group_exec));
}
