// What a publisher handle owns.
#pragma once

#include <memory>
#include <string>

#include "endpoint/core.hpp"

namespace pubsub {

class publisher_core {
public:
  publish_result publish(publishable&& what, const deadline& until) {
    return owner->closed() ? out->refuse_closed() : out->publish(topic, std::move(what), until);
  }

  std::shared_ptr<endpoint_core> owner;
  std::string topic;
  std::unique_ptr<outbound> out;
};

} // namespace pubsub
