// SPDX-License-Identifier: BSD-3-Clause
#include "actors/feed.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/tell.hpp"

namespace pubsub::caf {

namespace {

/// A batch on its way to an actor, and in its hands.
struct batch_under_way {
  batch_under_way(message_batch::container x, ::caf::actor from)
      : messages(std::move(x)), feed(std::move(from)) {}
  batch_under_way(const batch_under_way&) = delete;
  batch_under_way& operator=(const batch_under_way&) = delete;
  ~batch_under_way() { tell(feed, feed_signal{feed_signal::kind::handled}); }

  const message_batch::container messages;
  const ::caf::actor feed;
};

feed_options at_least_one(feed_options x) {
  x.batches = std::max<std::size_t>(x.batches, 1);
  x.batch_messages = std::max<std::size_t>(x.batch_messages, 1);
  return x;
}

} // namespace

const message_batch::container& message_batch::messages() const noexcept {
  static const container none;
  return content_ ? *content_ : none;
}

feed::feed(::caf::actor_config& config, pubsub::subscriber from, ::caf::actor to,
           const feed_options& options)
    : event_based_actor(config), from_(std::move(from)), to_(std::move(to)),
      options_(at_least_one(options)) {}

feed::~feed() = default;

::caf::behavior feed::make_behavior() {
  watch_reader();
  attach_functor([to = to_] {}); // keeps the reader until it has been told that this actor ends
  readiness_ = readiness::shared();
  number_ = readiness_->add(from_->fd(), ::caf::actor_cast<::caf::actor>(this));
  hand_on();
  return {[this](const feed_signal& signal) {
    if (signal.what == feed_signal::kind::handled)
      --under_way_;
    hand_on();
  }};
}

void feed::watch_reader() {
#if PUBSUB_CAF_VERSION < 10000
  set_down_handler([this](const ::caf::down_msg&) { quit(); }); // it monitors no other
  monitor(to_);
#else
  monitor(to_, [this](const ::caf::error&) { quit(); });
#endif
}

void feed::on_exit() {
  if (readiness_)
    readiness_->forget(number_);
  readiness_.reset();
  from_.reset();
  to_ = nullptr;
}

void feed::hand_on() {
  while (under_way_ < options_.batches) {
    auto next = from_->try_get_batch(options_.batch_messages);
    if (next.closed())
      return quit(::caf::exit_reason::user_shutdown);
    if (!next)
      return readiness_->tell_once(number_);
    ++under_way_;
    auto batch = std::make_shared<const batch_under_way>(std::move(*next),
                                                         ::caf::actor_cast<::caf::actor>(this));
    const auto& messages = batch->messages;
    tell(*this, to_,
         message_batch{
             std::shared_ptr<const message_batch::container>{std::move(batch), &messages}});
  }
}

// CAF 1.0 would rather have a callback for each actor that is monitored. Earlier versions have
// none, and a handler of down messages works in all.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

::caf::actor subscribe(::caf::local_actor* self, subscriber from, const feed_options& options) {
  return self->spawn<feed, ::caf::monitored>(std::move(from), ::caf::actor_cast<::caf::actor>(self),
                                             options);
}

#pragma GCC diagnostic pop

::caf::actor subscribe(::caf::local_actor* self, endpoint& at, filter topics,
                       const queue_options& queue, const feed_options& options) {
  return subscribe(self, at.make_subscriber(std::move(topics), queue), options);
}

} // namespace pubsub::caf
