// An endpoint as a member of a ZeroMQ cluster, of which there are a proxy and a node here;
// tests/python/test_zeek_cluster.py has whole clusters.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/cluster/zeromq_member.hpp>
#include <pubsub/zeek/event.hpp>

#include <doctest/doctest.h>

#include <array>
#include <thread>

#include <zmq.hpp>

using namespace pubsub;
using namespace pubsub::cluster;
using namespace std::chrono_literals;

namespace {

constexpr auto limit = 20s;

/// What a cluster has in the middle.
class proxy {
public:
  proxy() {
    to_nodes_.set(zmq::sockopt::xpub_verboser, true);
    to_nodes_.set(zmq::sockopt::sndhwm, 0); // nothing is lost on the way
    for (auto* socket : {&from_nodes_, &to_nodes_}) {
      socket->set(zmq::sockopt::linger, 0);
      socket->bind("tcp://127.0.0.1:*");
    }
    control_.bind("inproc://control");
    commands_.connect("inproc://control");
    options_.publish_to = from_nodes_.get(zmq::sockopt::last_endpoint);
    options_.subscribe_at = to_nodes_.get(zmq::sockopt::last_endpoint);
    thread_ = std::thread{[this] {
      zmq::proxy_steerable(from_nodes_, to_nodes_, zmq::socket_ref{}, control_);
      from_nodes_.close();
      to_nodes_.close();
    }};
  }
  ~proxy() {
    commands_.send(zmq::str_buffer("TERMINATE"));
    thread_.join();
  }

  const zeromq_options& options() const noexcept { return options_; }
  zmq::context_t& context() noexcept { return context_; }

private:
  zmq::context_t context_;
  zmq::socket_t from_nodes_{context_, zmq::socket_type::xsub};
  zmq::socket_t to_nodes_{context_, zmq::socket_type::xpub};
  zmq::socket_t control_{context_, zmq::socket_type::pair};
  zmq::socket_t commands_{context_, zmq::socket_type::pair};
  zeromq_options options_;
  std::thread thread_;
};

/// Publishes, and subscribes to what begins with `x`.
class cluster_node {
public:
  explicit cluster_node(proxy& at)
      : out_(at.context(), zmq::socket_type::xpub), in_(at.context(), zmq::socket_type::sub) {
    for (auto* socket : {&out_, &in_}) {
      socket->set(zmq::sockopt::linger, 0);
      socket->set(zmq::sockopt::rcvtimeo, 20'000);
    }
    out_.set(zmq::sockopt::xpub_verbose, true);
    out_.set(zmq::sockopt::sndhwm, 0);
    out_.connect(at.options().publish_to);
    in_.connect(at.options().subscribe_at);
    in_.set(zmq::sockopt::subscribe, "x");
  }

  void wait_for_subscription(std::string_view prefix) {
    zmq::message_t message;
    do
      REQUIRE(out_.recv(message));
    while (message.to_string_view() != "\1" + std::string{prefix});
  }

  void publish(std::string_view topic, const std::vector<std::byte>& payload) {
    const std::array<std::string_view, 3> head{topic, "some node", "broker-bin-v1"};
    for (const auto& each : head)
      out_.send(zmq::buffer(each), zmq::send_flags::sndmore);
    out_.send(zmq::buffer(payload.data(), payload.size()), zmq::send_flags::none);
  }

  /// The topic of the next event.
  std::string receive() {
    zmq::message_t part;
    REQUIRE(in_.recv(part));
    const auto topic = part.to_string();
    while (part.more())
      REQUIRE(in_.recv(part));
    return topic;
  }

private:
  zmq::socket_t out_;
  zmq::socket_t in_;
};

std::vector<std::byte> event(count n) {
  return *encode_binary(zeek::make_event("e", vector{n}));
}

} // namespace

TEST_CASE("a member passes events on and counts them") {
  proxy bus;
  endpoint ep;
  const auto member = zeromq_member::join(ep, bus.options());
  REQUIRE_MESSAGE(member, member.error().message());
  REQUIRE(member->wait_connected(limit));
  CHECK(member->problem().empty());
  cluster_node node{bus};
  auto from_cluster = ep.make_subscriber({"y/"});
  node.wait_for_subscription("y/");
  for (count n = 0; n < 1000; ++n)
    node.publish("y/1", event(n));
  node.publish("y/1", {});
  node.publish("y/2", event(1000));
  for (count n = 0; n <= 1000; ++n) {
    const auto message = from_cluster.get_for(limit);
    REQUIRE(message);
    CHECK(get_data(*message) == zeek::make_event("e", vector{n}));
  }
  REQUIRE(ep.wait_for_subscribers("x/1", 1, limit));
  CHECK(ep.publish("x/0", data{"no event"}) == publish_result::taken);
  CHECK(ep.publish("x/1", zeek::make_event("e", {})) == publish_result::taken);
  CHECK(node.receive() == "x/1");
  const auto counted = member->counters();
  CHECK(counted.connections == 1);
  CHECK(counted.events_received == 1001);
  CHECK(counted.malformed == 1);
  CHECK(counted.not_events == 1);
  CHECK(test::eventually([&] { return member->counters().events_sent == 1; }));
  CHECK(counted.dropped + counted.refused + counted.own + counted.left_to_partner == 0);
}

TEST_CASE("an endpoint may be moved or destroyed before its member") {
  proxy bus;
  auto ep = std::make_unique<endpoint>();
  const auto member = zeromq_member::join(*ep, bus.options());
  REQUIRE(member);
  REQUIRE(member->wait_connected(limit));
  endpoint moved{std::move(*ep)};
  ep.reset();
  CHECK(moved.peers().size() == 1);
  cluster_node node{bus};
  auto from_cluster = moved.make_subscriber({"y/"});
  node.wait_for_subscription("y/");
  node.publish("y/1", event(1));
  CHECK(from_cluster.get_for(limit));
  moved.close();
}

TEST_CASE("a member that finds no proxy says so, and leaves at once") {
  zeromq_options options;
  {
    proxy gone;
    options = gone.options();
  }
  options.timeout = 1ms;
  const endpoint ep;
  const auto member = zeromq_member::join(ep, options);
  REQUIRE(member);
  CHECK_FALSE(member->wait_connected(1ms));
  CHECK(test::eventually([&] {
    return member->problem().starts_with("no answer from the proxy of the cluster at ");
  }));
  CHECK(member->counters().connections == 0);
}

TEST_CASE("what cannot be is refused when a member is to join") {
  const endpoint ep;
  const auto refusal = [&](auto change) {
    zeromq_options options;
    change(options);
    const auto member = zeromq_member::join(ep, options);
    return member ? errc::none : member.error().code();
  };
  proxy other;
  CHECK(refusal([](auto& x) { x.publish_to = "nonsense"; }) == errc::invalid_argument);
  CHECK(refusal([](auto& x) { x.incoming.policy = overflow_policy::block; }) ==
        errc::invalid_argument);
  CHECK(refusal([&](auto& x) { x.logs_at = other.options().publish_to; }) == errc::address_in_use);
}
