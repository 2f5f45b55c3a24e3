// SPDX-License-Identifier: BSD-3-Clause
#include "stream/round_trip.hpp"

#include <string>

#include <pubsub/data_writer.hpp>

namespace pubsub::tool::bench {

bool round_trip::exchange(std::chrono::nanoseconds timeout) {
  auto number = sent_;
  if (!send(number))
    return false;
  ++sent_;
  while (auto answer = receive(timeout)) {
    answers_.visit(*answer);
    if (*answer == number)
      return true;
  }
  return false;
}

namespace {

class endpoint_trip final : public round_trip {
public:
  endpoint_trip(endpoint& ep, std::size_t payload_bytes)
      : replies_(ep.make_subscriber({reply_topic})), requests_(ep.make_publisher(request_topic)),
        text_(payload_bytes, 'x') {}

private:
  bool send(std::uint64_t number) override {
    writer_.clear();
    writer_.begin_vector(2);
    writer_.write_count(number);
    writer_.write_string(text_);
    return requests_.publish(writer_.bytes()) == publish_result::taken;
  }

  std::optional<std::uint64_t> receive(std::chrono::nanoseconds timeout) override {
    auto msg = replies_.get_for(timeout);
    if (!msg)
      return std::nullopt;
    return (*get_view(*msg).elements().begin()).as_count();
  }

  subscriber replies_;
  publisher requests_;
  std::string text_;
  data_writer writer_;
};

} // namespace

std::unique_ptr<round_trip> make_endpoint_trip(endpoint& ep, std::size_t payload_bytes) {
  return std::make_unique<endpoint_trip>(ep, payload_bytes);
}

echo_thread::echo_thread(endpoint& ep)
    : requests_(ep.make_subscriber({request_topic})), replies_(ep.make_publisher(reply_topic)) {
  thread_ = std::thread{[this] {
    while (auto msg = requests_.get())
      (void)replies_.publish(get_view(*msg).bytes()); // a lost reply is missed by who has asked
  }};
}

echo_thread::~echo_thread() {
  requests_.close();
  thread_.join();
}

} // namespace pubsub::tool::bench
