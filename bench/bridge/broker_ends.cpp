// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/broker_ends.hpp"

#include <chrono>
#include <utility>

#include <broker/configuration.hh>
#include <broker/message.hh>
#include <broker/subscriber.hh>
#include <broker/version.hh>

#if __has_include(<broker/hub.hh>)
#include <broker/hub.hh>
#else
#include <broker/atoms.hh>
#include <caf/send.hpp>
#endif

namespace pubsub::tool::bench {

namespace {

constexpr std::size_t queue_messages = 8192;

} // namespace

std::string broker_version() {
  return ::broker::version::string();
}

#if __has_include(<broker/hub.hh>)

/// Broker 2 hands what an endpoint publishes to its hubs, and to no subscribers.
class broker_reader::state {
public:
  state(::broker::endpoint& at, const std::string& topic)
      : in_(::broker::hub::make(at, {::broker::topic{topic}})) {}
  std::size_t take(::broker::data& last) {
    const auto first = in_.get(std::chrono::seconds{1});
    if (!first)
      return 0;
    last = ::broker::get_data(first).to_data();
    std::size_t n = 1;
    for (const auto& each : in_.poll()) {
      last = ::broker::get_data(each).to_data(); // as a consumer that reads it does
      ++n;
    }
    return n;
  }

private:
  ::broker::hub in_;
};

std::unique_ptr<::broker::endpoint> make_broker_endpoint() {
  ::broker::broker_options options;
  options.disable_ssl = true;
  return std::make_unique<::broker::endpoint>(::broker::configuration{std::move(options)});
}
broker_reader::broker_reader(::broker::endpoint& at, const std::string& topic)
    : state_(std::make_unique<state>(at, topic)) {}

void publish_locally(::broker::endpoint& at, const std::string& topic, ::broker::data value) {
  at.publish(::broker::topic{topic}, value);
}

#else

class broker_reader::state {
public:
  state(::broker::endpoint& at, const std::string& topic)
      : in_(at.make_subscriber({::broker::topic{topic}}, queue_messages)) {}
  std::size_t take(::broker::data& last) {
    const auto first = in_.get(::broker::timespan{std::chrono::seconds{1}});
    if (!first)
      return 0;
    const auto more = in_.poll();
    last = ::broker::get_data(more.empty() ? *first : more.back());
    return 1 + more.size();
  }

private:
  ::broker::subscriber in_;
};

std::unique_ptr<::broker::endpoint> make_broker_endpoint() {
  ::broker::broker_options options;
  options.disable_ssl = true;
  options.ignore_broker_conf = true;
  return std::make_unique<::broker::endpoint>(::broker::configuration{options});
}
broker_reader::broker_reader(::broker::endpoint& at, const std::string& topic)
    : state_(std::make_unique<state>(at, topic)) {}

/// `endpoint::publish` of Broker 1.4 reaches peers only. This is what it sends to its core, with
/// the word that keeps the message here.
void publish_locally(::broker::endpoint& at, const std::string& topic, ::broker::data value) {
  ::caf::anon_send(at.core(), ::broker::atom::publish::value, ::broker::atom::local::value,
                   ::broker::make_data_message(::broker::topic{topic}, std::move(value)));
}

#endif

broker_reader::~broker_reader() = default;

std::size_t broker_reader::take() {
  return state_->take(last_);
}

} // namespace pubsub::tool::bench
