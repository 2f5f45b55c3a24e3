#include "node/flow/record_stream.hpp"

#include <atomic>

namespace pubsub {

/// Streams of one endpoint differ; those of its former incarnations do too, its id being fresh.
std::uint32_t record_stream::next_stream() noexcept {
  static std::atomic<std::uint32_t> last{0};
  return (last.fetch_add(1, std::memory_order_relaxed) + 1) & ~one_topic_flag;
}

void record_stream::forget_topics() noexcept {
  topics_ = {};
  numbers_.clear();
}

/// A stream of one topic says so in its number; one that gets a second topic ends, and another
/// begins.
void record_stream::keep_to_one_topic(std::string_view topic) {
  if (!has_one_topic(origin_.stream) || only_topic_ == topic)
    return;
  if (only_topic_)
    origin_ = {.endpoint = origin_.endpoint, .stream = next_stream()};
  else
    only_topic_ = topic;
}

/// A publisher of one topic has a table of one; a publisher on many gets larger ones.
std::uint8_t record_stream::number_of(std::string_view topic,
                                      const std::shared_ptr<const destinations_by_link>& nodes) {
  if (const auto found = numbers_.find(topic); found != numbers_.end()) {
    last_number_ = found->second;
  } else {
    keep_to_one_topic(topic);
    if (!topics_ || topics_->full()) {
      numbers_.clear();
      topics_ = topic_table::make(topics_ ? topic_table::max_topics : 1);
    }
    last_number_ = topics_->add(topic, nodes);
    numbers_.emplace(topics_->at(last_number_), last_number_);
  }
  last_topic_ = topics_->at(last_number_);
  return last_number_;
}

} // namespace pubsub
