// What a publisher handle owns.
#pragma once

#include <memory>
#include <string>

#include "endpoint/core.hpp"

namespace pubsub {

class publisher_core {
public:
  template <class F>
  publish_result with_outbound(F&& publish) {
    return owner->closed() ? out->refuse_closed() : publish(*out);
  }

  std::shared_ptr<endpoint_core> owner;
  std::string topic;
  std::unique_ptr<outbound> out;
};

} // namespace pubsub
