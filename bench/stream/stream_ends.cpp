// SPDX-License-Identifier: BSD-3-Clause
#include "stream/stream_ends.hpp"

#include <cerrno>
#include <system_error>

#include <sys/eventfd.h>
#include <unistd.h>

namespace pubsub::tool::bench {

finish_line::finish_line() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0)
    throw std::system_error(errno, std::generic_category(), "eventfd");
}

finish_line::~finish_line() {
  ::close(fd_);
}

void finish_line::arrive() {
  ::eventfd_write(fd_, 1);
}

std::uint64_t finish_line::arrived() {
  eventfd_t more = 0;
  if (::eventfd_read(fd_, &more) == 0)
    arrived_ += more;
  return arrived_;
}

// -- publishing --------------------------------------------------------------------------------

publishing_thread::publishing_thread(endpoint& ep, const payloads& contents, message_kind kind,
                                     std::uint64_t stream, finish_line& finish)
    : contents_(contents) {
  thread_ = std::thread{[this, &ep, kind, stream, &finish] {
    auto out = ep.make_publisher(stream_topic);
    kind == message_kind::fresh ? publish_numbered(out, stream) : publish_repeated(out);
    finish.arrive();
  }};
}

publishing_thread::~publishing_thread() {
  stop();
  thread_.join();
}

// Looks at the flag and publishes the count once every few messages.
bool publishing_thread::going_on(std::uint64_t published) {
  constexpr std::uint64_t stride = 64;
  if (published % stride != 0)
    return true;
  published_.store(published, std::memory_order_relaxed);
  return !stop_.load(std::memory_order_relaxed);
}

void publishing_thread::publish_numbered(publisher& out, std::uint64_t stream) {
  numbered_publisher numbered{out, contents_, stream};
  while (going_on(numbered.published()) && numbered.publish_next()) {
  }
  numbered.finish();
  published_ = numbered.published();
}

void publishing_thread::publish_repeated(publisher& out) {
  vector content;
  content.emplace_back(none{});
  content.push_back(data_view::from_valid(contents_[0]).to_data());
  auto msg = make_data_message(stream_topic, std::move(content));
  std::uint64_t published = 0;
  while (going_on(published) && out.publish(msg) != publish_result::refused)
    ++published;
  (void)out.publish(vector{data{published}}); // the consumer misses the end, and says so
  published_ = published;
}

// -- consuming ---------------------------------------------------------------------------------

consuming_thread::consuming_thread(endpoint& ep, message_kind kind, std::size_t streams,
                                   const queue_options& queue, std::size_t batch_messages,
                                   finish_line& finish)
    : sub_(ep.make_subscriber({stream_topic}, queue)), kind_(kind), numbered_(streams),
      ends_left_(streams) {
  thread_ = std::thread{[this, batch_messages, &finish] {
    run(batch_messages);
    finish.arrive();
  }};
}

consuming_thread::~consuming_thread() {
  close();
  thread_.join();
}

void consuming_thread::run(std::size_t batch_messages) {
  constexpr std::chrono::nanoseconds patience = std::chrono::seconds{1};
  std::vector<data_message> batch;
  batch.reserve(batch_messages);
  while (kind_ == message_kind::fresh ? !numbered_.ended() : ends_left_ > 0) {
    batch.clear();
    const auto status = sub_.get_batch_for(batch, batch_messages, patience);
    if (status == receive_status::closed)
      break;
    for (const auto& msg : batch)
      visit(msg);
    visited_.store(numbered_.visited() + counted_, std::memory_order_relaxed);
  }
}

void consuming_thread::visit(const data_message& msg) {
  if (kind_ == message_kind::fresh) {
    numbered_.visit(msg);
    return;
  }
  auto view = get_view(msg);
  if (view.size() != 1) {
    ++counted_;
  } else if (ends_left_ > 0) {
    --ends_left_;
    announced_ += (*view.elements().begin()).as_count() & number_mask;
  }
}

sequence_result consuming_thread::result() const {
  if (kind_ == message_kind::fresh)
    return numbered_.result();
  sequence_result result;
  result.published = ends_left_ == 0 ? announced_ : counted_;
  result.delivered = std::min(counted_, result.published);
  result.missing = result.published - result.delivered;
  result.unexpected = counted_ - result.delivered;
  return result;
}

} // namespace pubsub::tool::bench
