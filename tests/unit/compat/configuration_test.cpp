// Broker's configuration: options of programs, command lines, and what becomes of them.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/compat/broker.hpp>

#include <doctest/doctest.h>

namespace {

struct program {
  std::int64_t number = 0;
  std::uint64_t port = 0;
  double rate = 0;
  bool verbose = false;
  std::string topic;
  std::vector<std::string> peers;
  broker::configuration config{broker::skip_init};

  program() {
    config.add_option(&number, "number,n", "a number");
    config.add_option(&port, "port,p", "a port");
    config.add_option(&rate, "rate", "a rate");
    config.add_option(&verbose, "verbose,v", "says more");
    config.add_option(&topic, "topic,t", "a topic");
    config.add_option(&peers, "peers", "a list");
  }
  void read(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> argv;
    for (auto& each : arguments)
      argv.push_back(each.data());
    config.init(static_cast<int>(argv.size()), argv.data());
  }
};

} // namespace

TEST_CASE("a command line is read into the options that a program adds to Broker's configuration") {
  program p;
  p.read({"--number=-5", "-p", "9999", "--rate=0.5", "-v", "-t/test", "--peers=a:1,b:2",
          "--peers=[\"c:3\"]", "rest"});
  CHECK(p.number == -5);
  CHECK(p.port == 9999);
  CHECK(p.rate == 0.5);
  CHECK(p.verbose);
  CHECK(p.topic == "/test");
  CHECK(p.peers == std::vector<std::string>{"a:1", "b:2", "c:3"});
  CHECK(p.config.remainder() == std::vector<std::string>{"rest"});
  CHECK(p.config.read_u64("port", 65535) == 9999);
  CHECK(p.config.read_i64("global.number", -10, 10) == -5);
  CHECK_FALSE(p.config.read_u64("port", 100));
  CHECK(p.config.read_str("topic") == "/test");
  CHECK_FALSE(p.config.read_str("missing"));
}

TEST_CASE("a command line that does not fit the options is an exception, as with Broker") {
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"--number=five"},
                                              {"--port=-1"},
                                              {"--unknown"},
                                              {"-x"},
                                              {"-p"},
                                              {"--verbose=perhaps"},
                                              {"--rate="},
                                              {"--=5"},
                                              {"--number=5x"}}) {
    program p;
    CHECK_THROWS_AS(p.read(bad), std::invalid_argument);
  }
}

TEST_CASE("Broker's options become those of the library's endpoint") {
  broker::broker_options options;
  CHECK(broker::detail::native_options(broker::configuration{options}, {}).forwarding ==
        pubsub::forwarding::on);
  options.forward = false;
  CHECK(broker::detail::native_options(broker::configuration{options}, {}).forwarding ==
        pubsub::forwarding::off);
  options.forward = true;
  options.disable_forwarding = true;
  CHECK(broker::detail::native_options(broker::configuration{options}, {}).forwarding ==
        pubsub::forwarding::off);

  broker::configuration config;
  config.openssl_certificate = "assigned.pem"; // as in Broker 1
  config.openssl_key("called.pem");            // as in Broker 2
  config.set("openssl.cafile", "set.pem");
  const auto native = broker::detail::native_options(config, {});
  CHECK(native.tls.certificate == "assigned.pem");
  CHECK(native.tls.key == "called.pem");
  CHECK(native.tls.ca_file == "set.pem");
  CHECK(config.openssl_cafile() == "set.pem");
  config.set("broker.disable-ssl", true);
  CHECK_FALSE(broker::detail::native_options(config, {}).tls.authenticated());
  CHECK(broker::detail::native_uri(false, "::1", 5) == "tls://[::1]:5");
  CHECK(broker::detail::native_uri(true, "host", 5) == "tcp://host:5");
}

TEST_CASE("Broker's retry is the time between all attempts, and none means one attempt") {
  const auto once = broker::detail::native_peering(broker::timeout::seconds{0});
  CHECK_FALSE(once.retry);
  CHECK(pubsub::check(once));
  const auto every_minute = broker::detail::native_peering(broker::timeout::seconds{60});
  CHECK(every_minute.retry == std::chrono::seconds{60});
  CHECK(every_minute.max_retry == std::chrono::seconds{60});
  CHECK(pubsub::check(every_minute));
}

TEST_CASE("the waits of Broker's get end when they should, however they are given") {
  using broker::detail::deadline_of;
  const auto now = std::chrono::steady_clock::now();
  CHECK_FALSE(deadline_of(broker::infinite));
  CHECK_FALSE(deadline_of(std::chrono::hours::max()));
  CHECK_FALSE(deadline_of(std::chrono::duration<double>{1e300}));
  CHECK(*deadline_of(std::chrono::seconds::min()) >= now);
  CHECK(*deadline_of(std::chrono::seconds{-1}) < now + std::chrono::minutes{1});
  CHECK(*deadline_of(std::chrono::duration<double>{3600}) > now + std::chrono::minutes{59});
  CHECK(*deadline_of(broker::now() + std::chrono::hours{1}) > now + std::chrono::minutes{59});
  CHECK(*deadline_of(broker::now() - std::chrono::hours{1}) < now + std::chrono::minutes{1});
}
