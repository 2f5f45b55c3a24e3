#include "record_publisher.hpp"

#include "record.hpp"

#include <pubsub/zeek/log.hpp>

#include <utility>

namespace flow_monitor {

void record_publisher::publish_schema_if_due() {
  const auto now = now_();
  if (has_schema_ && now - schema_sent_ < std::chrono::seconds{1})
    return;
  // Nobody there to tell: whoever comes first shall hear it before any record.
  if (publisher_.subscribers() == 0)
    return;
  has_schema_ = true;
  schema_sent_ = now;
  // Where it is dropped, it comes again a second later.
  (void)publisher_.publish(pubsub::zeek::make_log_fields_event(schema()));
}

void record_publisher::publish(pubsub::vector record) {
  publish_schema_if_due();
  switch (publisher_.publish(pubsub::zeek::make_log_event("conn", std::move(record)))) {
  case pubsub::publish_result::taken:
    ++published_;
    break;
  case pubsub::publish_result::unwanted:
    ++unwanted_;
    break;
  case pubsub::publish_result::dropped:
  case pubsub::publish_result::would_block:
  case pubsub::publish_result::refused:
    ++dropped_;
    break;
  }
}

} // namespace flow_monitor
