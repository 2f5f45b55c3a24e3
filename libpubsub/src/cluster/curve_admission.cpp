// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/curve_admission.hpp"

#include <array>
#include <cstdint>

namespace pubsub::cluster {

namespace {

constexpr std::size_t raw_bytes = 32;
// Version, number, domain, address, name and mechanism; with CURVE, then the key of the client.
constexpr std::size_t frames_of_question = 7;

std::string raw(const std::string& key) {
  std::array<std::uint8_t, raw_bytes> bytes{};
  if (zmq_z85_decode(bytes.data(), key.c_str()) == nullptr)
    throw zmq::error_t{};
  return {bytes.begin(), bytes.end()};
}

} // namespace

curve_admission::curve_admission(zmq::context_t& context, const curve_keys& keys,
                                 const std::vector<std::string>& more_clients)
    : secret_(keys.server_secret), questions_(context, zmq::socket_type::rep) {
  clients_.insert(raw(keys.client_public));
  for (const auto& each : more_clients)
    clients_.insert(raw(each));
  questions_.set(zmq::sockopt::linger, 0);
  questions_.bind("inproc://zeromq.zap.01");
}

void curve_admission::serve(zmq::socket_t& socket) const {
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, secret_);
  socket.set(zmq::sockopt::zap_domain, "zeek"); // with a domain libzmq asks about every client
}

void curve_admission::answer() {
  while (frames_.receive(questions_)) {
    const auto question = frames_.texts();
    const bool admitted = admits(question);
    const std::array<std::string_view, 6> reply{
        question[0],
        question.size() > 1 ? question[1] : std::string_view{},
        admitted ? "200" : "400",
        admitted ? "" : "unknown key",
        admitted ? "0" : "",
        "",
    };
    for (std::size_t i = 0; i < reply.size(); ++i)
      questions_.send(zmq::buffer(reply[i]),
                      i + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
}

bool curve_admission::admits(std::span<const std::string_view> question) const {
  return question.size() == frames_of_question && question[5] == "CURVE" &&
         clients_.contains(question[6]);
}

} // namespace pubsub::cluster
