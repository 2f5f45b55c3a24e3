// SPDX-License-Identifier: BSD-3-Clause
#include "publishing.hpp"

#include <chrono>

#include "numbered.hpp"

namespace faults {

namespace {
using namespace std::chrono_literals;
/// How soon a thread that waits for room sees that it is to stop.
constexpr auto look_up = 20ms;
} // namespace

publishing::publishing(pubsub::endpoint& node, publishing_options options)
    : node_(node), options_(std::move(options)) {
  for (std::size_t i = 0; i < options_.topics; ++i) {
    const auto suffix = options_.topics == 1 ? std::string{} : std::to_string(i);
    topics_.push_back(
        std::make_unique<counted_topic>(node.make_publisher(options_.topic + suffix)));
  }
}

void publishing::start(std::uint64_t messages) {
  stop();
  stopping_ = false;
  running_ = true;
  thread_ = std::thread{[this, messages] {
    run(messages);
    running_ = false;
  }};
}

void publishing::stop() {
  stopping_ = true;
  if (thread_.joinable())
    thread_.join();
}

void publishing::run(std::uint64_t messages) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t done = 0; messages == 0 || done < messages; ++done) {
    if (options_.per_second > 0)
      std::this_thread::sleep_until(
          begin + std::chrono::nanoseconds{1'000'000'000 * done / options_.per_second});
    if (stopping_ || !publish_on(*topics_[turn_]))
      return;
    turn_ = (turn_ + 1) % topics_.size();
  }
}

pubsub::publish_result publishing::offer(counted_topic& each) {
  if (options_.to.is_nil())
    return each.out.publish_for(writer_.bytes(), look_up);
  return node_.publish_to_for(options_.to, each.out.topic(), writer_.bytes(), look_up);
}

/// False if the message was not taken and will not be.
bool publishing::publish_on(counted_topic& each) {
  const auto number = each.published.load(std::memory_order_relaxed);
  writer_.clear();
  write_numbered(writer_, {options_.publisher, number}, each.out.topic(), options_.min_bytes,
                 options_.max_bytes);
  while (true) {
    switch (offer(each)) {
    case pubsub::publish_result::unwanted:
      each.unwanted.fetch_add(1, std::memory_order_relaxed);
      [[fallthrough]];
    case pubsub::publish_result::taken:
    case pubsub::publish_result::dropped:
      each.published.store(number + 1, std::memory_order_release);
      return true;
    case pubsub::publish_result::would_block:
      if (stopping_)
        return false;
      break;
    case pubsub::publish_result::refused:
      refused_ = true;
      return false;
    }
  }
}

json_object publishing::report() const {
  json_list topics;
  for (const auto& each : topics_)
    topics.add(json_object{}
                   .add("topic", each->out.topic())
                   .add("published", each->published.load(std::memory_order_acquire))
                   .add("unwanted", each->unwanted.load())
                   .text());
  json_object all;
  all.add("publisher", options_.publisher)
      .add("running", running_.load())
      .add("refused", refused_.load())
      .add_raw("topics", topics.text());
  return all;
}

} // namespace faults
