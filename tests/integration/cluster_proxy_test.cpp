// The proxy of a ZeroMQ cluster between sockets of libzmq; tests/python/test_zeek_proxy.py has
// nodes that stop, keys and floods. SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"

#include <pubsub/cluster/zeromq_proxy.hpp>

#include <doctest/doctest.h>

#include <optional>

#include <zmq.hpp>

using namespace pubsub;
using namespace pubsub::cluster;

namespace {

zeromq_proxy_options any_ports() {
  zeromq_proxy_options result;
  result.listen_xsub = "tcp://127.0.0.1:0";
  result.listen_xpub = "tcp://127.0.0.1:0";
  return result;
}

zmq::socket_t connected(zmq::context_t& context, zmq::socket_type type, const std::string& to) {
  zmq::socket_t result{context, type};
  result.set(zmq::sockopt::linger, 0);
  result.set(zmq::sockopt::rcvtimeo, 20'000);
  result.connect(to);
  return result;
}

std::string receive(zmq::socket_t& from) {
  zmq::message_t message;
  REQUIRE(from.recv(message));
  return message.to_string();
}

} // namespace

TEST_CASE("a proxy passes on messages and every subscription, and counts them") {
  const auto started = zeromq_proxy::start(any_ports());
  REQUIRE_MESSAGE(started, started.error().message());
  zmq::context_t context;
  auto publisher = connected(context, zmq::socket_type::xpub, started->xsub_address());
  publisher.set(zmq::sockopt::xpub_verbose, true);
  std::optional first{connected(context, zmq::socket_type::sub, started->xpub_address())};
  auto second = connected(context, zmq::socket_type::sub, started->xpub_address());
  first->set(zmq::sockopt::subscribe, "a");
  CHECK(receive(publisher) == "\1a");
  second.set(zmq::sockopt::subscribe, "a");
  CHECK(receive(publisher) == "\1a");
  publisher.send(zmq::str_buffer("a1"), zmq::send_flags::none);
  for (auto* const each : {&*first, &second})
    CHECK(receive(*each) == "a1");
  const auto counted = [&](auto condition) {
    return test::eventually([&] { return condition(started->counters()); });
  };
  CHECK(counted([](const auto& x) { return x.messages == 1 && x.bytes == 2 && x.foreign == 1; }));
  CHECK(counted(
      [](const auto& x) { return x.readers == 2 && x.publishers == 1 && x.subscriptions == 2; }));
  first.reset();
  CHECK(counted([](const auto& x) { return x.readers == 1 && x.subscriptions == 1; }));
  second.set(zmq::sockopt::unsubscribe, "a");
  CHECK(receive(publisher) == std::string{"\0a", 2});
  CHECK(started->counters().dropped + started->counters().times_slow == 0);
  CHECK(started->problem().empty());
}

TEST_CASE("a proxy waits once for a reader that has stopped, and not again") {
  auto options = any_ports();
  options.reader_queue_messages = 400; // libzmq hears late of room, but not as late as that
  options.patience = std::chrono::milliseconds{300};
  const auto started = zeromq_proxy::start(options);
  REQUIRE_MESSAGE(started, started.error().message());
  zmq::context_t context;
  auto publisher = connected(context, zmq::socket_type::xpub, started->xsub_address());
  publisher.set(zmq::sockopt::xpub_verbose, true);
  auto reader = connected(context, zmq::socket_type::sub, started->xpub_address());
  zmq::socket_t stopped{context, zmq::socket_type::sub};
  stopped.set(zmq::sockopt::rcvhwm, 1);
  stopped.connect(started->xpub_address());
  for (auto* const each : {&reader, &stopped}) {
    each->set(zmq::sockopt::subscribe, "a");
    CHECK(receive(publisher) == "\1a");
  }
  const std::string message(10'000, 'a');
  std::uint64_t passed = 0;
  // The next is sent once this is read, so nothing but the other reader can hold any up.
  const auto pass = [&] {
    publisher.send(zmq::buffer(message), zmq::send_flags::none);
    CHECK(receive(reader).size() == message.size());
    ++passed;
  };
  const auto counters = [&] {
    CHECK(test::eventually([&] { return started->counters().messages == passed; }));
    return started->counters();
  };
  while (counters().times_slow == 0 && passed < 10'000)
    pass();
  const auto before = counters();
  CHECK(before.held_up >= options.patience);
  for (int i = 0; i < 1'000; ++i)
    pass();
  const auto after = counters();
  CHECK(after.held_up == before.held_up);
  CHECK(after.times_slow == 1);
  CHECK(after.dropped == before.dropped + 1'000);
}

TEST_CASE("a proxy frees its addresses, and needs them free") {
  std::optional<zeromq_proxy> first;
  auto options = any_ports();
  {
    auto started = zeromq_proxy::start(options);
    REQUIRE(started);
    first.emplace(std::move(*started));
  }
  options.listen_xsub = first->xsub_address();
  options.listen_xpub = first->xpub_address();
  const auto second = zeromq_proxy::start(options);
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == errc::address_in_use);
  first.reset();
  CHECK(test::eventually([&] { return zeromq_proxy::start(options).has_value(); }));
}

TEST_CASE("what cannot be is refused when a proxy is to start") {
  const auto refusal = [](auto change) {
    auto options = any_ports();
    change(options);
    const auto started = zeromq_proxy::start(options);
    return started ? errc::none : started.error().code();
  };
  CHECK(refusal([](auto& x) { x.listen_xsub = "nonsense"; }) == errc::invalid_argument);
  CHECK(refusal([](auto& x) { x.reader_queue_messages = 1; }) == errc::invalid_argument);
  CHECK(refusal([](auto& x) { x.patience = std::chrono::milliseconds{-1}; }) ==
        errc::invalid_argument);
  CHECK(refusal([](auto& x) { x.more_clients = {"key"}; }) == errc::invalid_argument);
  CHECK(refusal([](auto& x) { x.curve = curve_keys{}; }) == errc::invalid_argument);
}
