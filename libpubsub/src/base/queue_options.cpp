#include <pubsub/queue_options.hpp>

namespace pubsub {

std::string_view to_string(overflow_policy x) noexcept {
  switch (x) {
  case overflow_policy::block:
    return "block";
  case overflow_policy::drop_oldest:
    return "drop_oldest";
  case overflow_policy::drop_newest:
    return "drop_newest";
  case overflow_policy::conflate:
    return "conflate";
  case overflow_policy::disconnect:
    return "disconnect";
  }
  return "unknown";
}

} // namespace pubsub
