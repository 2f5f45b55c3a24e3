// Broker's own ways to publish and receive, as fast as its version allows.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <broker/data.hh>
#include <broker/endpoint.hh>

namespace pubsub::tool::bench {

/// An endpoint that reads no configuration and listens nowhere.
std::unique_ptr<::broker::endpoint> make_broker_endpoint();
std::string broker_version();

/// Receives what comes to one topic of an endpoint.
class broker_reader {
public:
  broker_reader(::broker::endpoint& at, const std::string& topic);
  broker_reader(const broker_reader&) = delete;
  broker_reader& operator=(const broker_reader&) = delete;
  ~broker_reader();

  /// Takes what is there; waits for it, for a second at most. The number of messages.
  std::size_t take();
  /// The value of the message that came last.
  const ::broker::data& last() const noexcept { return last_; }

private:
  class state;
  std::unique_ptr<state> state_;
  ::broker::data last_;
};

/// Publishes to the subscribers of the same endpoint.
void publish_locally(::broker::endpoint& at, const std::string& topic, ::broker::data value);

} // namespace pubsub::tool::bench
