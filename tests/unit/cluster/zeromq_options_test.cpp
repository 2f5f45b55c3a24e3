// SPDX-License-Identifier: BSD-3-Clause
#include "support/temporary_folder.hpp"

#include <pubsub/cluster/zeromq_options.hpp>

#include <doctest/doctest.h>

#include <fstream>

using namespace pubsub;
using namespace pubsub::cluster;

namespace {

std::string zeromq_problem_of(std::string_view uri) {
  const auto options = zeromq_options_from(uri);
  return options ? "" : options.error().message();
}

const std::string key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"; // of ZeroMQ's own examples

} // namespace

TEST_CASE("an address says where the proxy is, and how to speak with it") {
  const auto plain = zeromq_options_from("zeek+zmq://192.0.2.1");
  REQUIRE(plain);
  CHECK(plain->publish_to == "tcp://192.0.2.1:5556");
  CHECK(plain->subscribe_at == "tcp://192.0.2.1:5555");
  CHECK_FALSE(plain->logs_at);
  CHECK(plain->topics == topic_names::mapped);
  const auto all = zeromq_options_from(
      "zeek+zmq://[::1]/?xpub=27761&xsub=27760&logs=27762&format=json&names=as-they-are");
  REQUIRE(all);
  CHECK(all->publish_to == "tcp://[::1]:27761");
  CHECK(all->subscribe_at == "tcp://[::1]:27760");
  CHECK(all->logs_at == "tcp://*:27762");
  CHECK(all->serializer == event_serializer::broker_json_v1);
  CHECK(all->topics == topic_names::as_they_are);
  CHECK(check(*all));
}

TEST_CASE("an address may name several loggers, and the names of logs") {
  const auto options = zeromq_options_from("zeek+zmq://a?log-to=192.0.2.1:1&log-to=[::1]:2&"
                                           "stream=flows:My::FLOWS&stream=x:Y::LOG");
  REQUIRE_MESSAGE(options, options.error().message());
  CHECK(options->logs_to == std::vector<std::string>{"tcp://192.0.2.1:1", "tcp://[::1]:2"});
  CHECK(options->log_streams ==
        std::map<std::string, std::string>{{"flows", "My::FLOWS"}, {"x", "Y::LOG"}});
  CHECK(zeromq_problem_of("zeek+zmq://a?log-to=b").find("log-to is not HOST:PORT") !=
        std::string::npos);
  CHECK(zeromq_problem_of("zeek+zmq://a?log-to=:1").find("log-to is not") != std::string::npos);
  CHECK(zeromq_problem_of("zeek+zmq://a?stream=x").find("stream is not PATH:NAME") !=
        std::string::npos);
}

TEST_CASE("an address that means nothing is refused with a reason") {
  CHECK(zeromq_problem_of("tcp://a").starts_with(
      "invalid_argument: tcp://a: another kind of address; "));
  CHECK(zeromq_problem_of("zeek+zmq://").find("the host is malformed") != std::string::npos);
  CHECK(zeromq_problem_of("zeek+zmq://a:5555").find("the host is malformed") != std::string::npos);
  CHECK(zeromq_problem_of("zeek+zmq://a?xpub=0").find("xpub is not a port") != std::string::npos);
  CHECK(zeromq_problem_of("zeek+zmq://a?xsub=70000").find("xsub is not a port") !=
        std::string::npos);
  CHECK(zeromq_problem_of("zeek+zmq://a?b=c").find("\"b=c\" means nothing") != std::string::npos);
  CHECK(zeromq_problem_of("zeek+zmq://a?format=xml").find("\"format=xml\"") != std::string::npos);
}

TEST_CASE("options that would do harm are refused by name") {
  const auto refused = [](auto change) {
    zeromq_options options;
    change(options);
    const auto ok = check(options);
    return ok ? "" : ok.error().context();
  };
  CHECK(check(zeromq_options{}));
  CHECK(refused([](auto& x) {
          x.incoming.policy = overflow_policy::block;
        }).starts_with("incoming.policy must drop"));
  CHECK(refused([](auto& x) {
          x.log_queue.policy = overflow_policy::block;
        }).starts_with("log_queue.policy must drop"));
  CHECK(refused([](auto& x) { x.outgoing.capacity_messages = 0; }).starts_with("outgoing: "));
  CHECK(refused([](auto& x) { x.timeout = {}; }) == "timeout must be positive");
  CHECK(refused([](auto& x) {
          x.curve = curve_keys{key, key, "short", {}};
        }) == "curve.client_secret is no CURVE key (40 characters, Z85)");
  CHECK(refused([](auto& x) {
          x.curve = curve_keys{key, key, key, {}};
          x.logs_at = "tcp://*:1";
        }).starts_with("curve.server_secret is no CURVE key"));
}

TEST_CASE("keys are read from a folder, and what is none is refused") {
  const test::temporary_folder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream{folder / name} << text;
  };
  const auto uri = "zeek+zmq://a?curve=" + (folder / "");
  CHECK(zeromq_problem_of(uri).starts_with("cannot_open_file: "));
  write("server_publickey", key + "\n");
  write("client_publickey", key);
  write("client_secretkey", key.substr(1));
  CHECK(zeromq_problem_of(uri).find("client_secretkey holds no CURVE key") != std::string::npos);
  write("client_secretkey", key);
  const auto options = zeromq_options_from(uri);
  REQUIRE_MESSAGE(options, options.error().message());
  REQUIRE(options->curve);
  CHECK(options->curve->server_public == key);
  CHECK(options->curve->client_secret == key);
}
