// SPDX-License-Identifier: BSD-3-Clause
#include "replicating.hpp"

namespace faults {

namespace {

using namespace std::chrono_literals;

constexpr auto look_up = 20ms; // how soon a thread sees that it is to stop

} // namespace

replicating::replicating(pubsub::endpoint& node, const std::string& group,
                         const pubsub::replica_options& options, const std::string& file)
    : it_(*pubsub::replica::open(node, group, options)), out_(file), thread_([this] { run(); }) {}

replicating::~replicating() {
  it_.close();
  thread_.join();
}

/// What is in the file survives a kill: it is with the kernel. A value that is not its client's
/// number is another message.
void replicating::run() {
  while (const auto some = it_.get_batch(1'000)) {
    for (const auto& each : *some) {
      const bool whole = each.is_void() || each.value.as_count() == each.client_number;
      out_ << each.version.number << ' ' << each.version.epoch << ' '
           << (whole ? to_string(each.client) : "damaged") << ' ' << each.client_number << '\n';
    }
    out_.flush();
  }
}

json_object replicating::report() const {
  return json_object{}
      .add("state", to_string(it_.state()))
      .add("sequencer", it_.is_sequencer())
      .add("replicas", it_.replicas())
      .add("applied", it_.applied().number)
      .add("failure", it_.failure().message());
}

sending::sending(pubsub::endpoint& node, const std::string& group,
                 const pubsub::versioned_group_options& options, const std::string& file)
    : it_(*pubsub::versioned_group::open(node, group, options)), out_(file),
      poster_([this] { post(); }), collector_([this] { collect(); }) {}

sending::~sending() {
  stop();
  it_.close();
  collector_.join();
}

void sending::allow(std::uint64_t messages) {
  allowed_ += messages;
  allowed_.notify_one();
}

void sending::stop() {
  stopping_ = true;
  allow(1); // wakes it
  if (poster_.joinable())
    poster_.join();
}

void sending::post() {
  for (std::uint64_t next = 1; !stopping_; ++next) {
    while (allowed_ < next) {
      it_.send_pending();
      allowed_.wait(next - 1);
    }
    if (stopping_)
      break;
    if (!it_.post(pubsub::count{next}))
      return;
  }
  it_.send_pending();
}

void sending::collect() {
  const auto own = to_string(it_.id());
  while (!it_.closed()) {
    const auto some = it_.take_completions_for(look_up);
    if (!some)
      continue;
    for (const auto& each : *some)
      if (!each.error)
        out_ << each.version.number << ' ' << each.version.epoch << ' ' << own << ' '
             << each.client_number << '\n';
    out_.flush();
    written_ += some->size();
  }
}

json_object sending::report() const {
  const auto counted = it_.counters();
  return json_object{}
      .add("sent", counted.sent)
      .add("acknowledged", counted.acknowledged)
      .add("failed", counted.failed)
      .add("resent", counted.resent)
      .add("settled", written_ == counted.sent && it_.in_flight() == 0)
      .add("replicas", it_.replicas());
}

} // namespace faults
