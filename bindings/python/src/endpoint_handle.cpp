// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint_handle.hpp"

#include "raise.hpp"

namespace pubsub::python {

namespace {

constexpr std::size_t cached_publishers = 64; // each holds on to a chunk of 64 KiB

} // namespace

endpoint_handle::endpoint_handle(endpoint_options options)
    : endpoint_(std::make_shared<pubsub::endpoint>(std::move(options))) {}

endpoint_handle::~endpoint_handle() {
  publishers_.clear();
  if (fork_.crossed()) { // its threads exist in the parent only, and its locks may be held by them
    new std::shared_ptr<pubsub::endpoint>(std::move(endpoint_));
    return;
  }
  *closed_ = true;
  gil_free nogil;
  endpoint_->close(); // publishers and subscribers may keep it, but then as a closed one
  endpoint_.reset();
}

pubsub::endpoint& endpoint_handle::get() const {
  fork_.check();
  return *endpoint_;
}

std::shared_ptr<pubsub::endpoint> endpoint_handle::share() const {
  fork_.check();
  return endpoint_;
}

pubsub::endpoint& endpoint_handle::open() const {
  fork_.check();
  if (*closed_)
    raise(types.closed, "the endpoint is closed");
  return *endpoint_;
}

std::shared_ptr<publisher_handle> endpoint_handle::publisher_for(const std::string& topic) {
  if (auto i = publishers_.find(topic); i != publishers_.end())
    return i->second;
  auto fresh = make_publisher(topic);
  auto old = publishers_.size() < cached_publishers ? decltype(publishers_)::node_type{}
                                                    : publishers_.extract(publishers_.begin());
  publishers_.emplace(topic, fresh);
  return fresh; // `old` goes last: that lets other threads in
}

std::shared_ptr<publisher_handle> endpoint_handle::make_publisher(const std::string& topic) const {
  open();
  return std::make_shared<publisher_handle>(endpoint_, closed_, topic);
}

void endpoint_handle::close(std::chrono::milliseconds timeout) {
  auto shared = share();
  *closed_ = true;
  run_interruptibly([shared, timeout] { shared->close(timeout); });
}

} // namespace pubsub::python
