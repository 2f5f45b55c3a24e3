// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/stream.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <thread>

#include "endpoint/core.hpp"

namespace pubsub {

/// One flow, one task. Thread-safe.
class stream_core : public std::enable_shared_from_this<stream_core> {
public:
  ~stream_core() {
    if (!thread_.joinable())
      return;
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach(); // the last handle went away inside the callback
    else
      thread_.join();
  }

  /// Runs `body` through `runner`, or on a thread of its own. `on_stop` makes a waiting body
  /// return.
  void start(std::function<void(stream_core&)> body, std::function<void()> on_stop,
             const task_runner& runner) {
    on_stop_ = std::move(on_stop);
    auto task = [self = shared_from_this(), body = std::move(body)] { self->run(body); };
    if (runner)
      runner(std::move(task));
    else
      thread_ = std::thread{std::move(task)};
  }
  void stop() noexcept {
    if (!stopping_.exchange(true) && on_stop_)
      on_stop_();
  }
  /// Rethrows what the body has thrown, once.
  void wait() {
    std::unique_lock lock{mutex_};
    ended_.wait(lock, [&] { return done_.load(std::memory_order_acquire); });
    if (auto failure = std::exchange(failure_, nullptr))
      std::rethrow_exception(failure);
  }
  bool running() const noexcept { return !done_.load(std::memory_order_acquire); }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  void count_message() noexcept { messages_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t messages() const noexcept { return messages_.load(std::memory_order_relaxed); }

private:
  void run(const std::function<void(stream_core&)>& body) {
    std::exception_ptr failure;
    try {
      if (!stopping())
        body(*this);
    } catch (...) {
      failure = std::current_exception();
      stop(); // a subscription without a reader would hold up its publishers
    }
    {
      std::lock_guard lock{mutex_};
      failure_ = std::move(failure); // the waiter alone holds it from here on
      done_.store(true, std::memory_order_release);
    }
    ended_.notify_all();
  }

  std::function<void()> on_stop_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<bool> done_{false};
  std::mutex mutex_; // guards failure_ and the change of done_
  std::condition_variable ended_;
  std::exception_ptr failure_;
};

// -- the public handle -------------------------------------------------------------------------

stream::stream(std::shared_ptr<stream_core> core) : core_(std::move(core)) {}
stream::stream(stream&&) noexcept = default;
stream& stream::operator=(stream&& other) noexcept {
  stream{std::move(other)}.core_.swap(core_);
  return *this;
}

stream::~stream() {
  if (!core_)
    return;
  core_->stop();
  try {
    core_->wait();
  } catch (...) { // rethrown by wait()
  }
}

void stream::stop() noexcept {
  core_->stop();
}
void stream::wait() {
  core_->wait();
}
bool stream::running() const noexcept {
  return core_->running();
}
std::uint64_t stream::messages() const noexcept {
  return core_->messages();
}

// -- what flows ----------------------------------------------------------------------------------

namespace {

constexpr std::size_t stream_batch_messages = 256;
constexpr std::chrono::milliseconds stop_check_interval{100};

/// Pulls from `next` and publishes, until stopped, exhausted, or the endpoint closes.
void drain_generator(stream_core& flow, endpoint_core& owner,
                     const std::function<data_message()>& next) {
  auto out = owner.make_outbound();
  while (!flow.stopping() && !owner.closed()) {
    const auto msg = next();
    if (!msg)
      return;
    auto result = publish_result::would_block;
    while (result == publish_result::would_block && !flow.stopping() && !owner.closed())
      result = out->publish(get_topic(msg), msg, deadline_after(stop_check_interval));
    if (result != publish_result::would_block)
      flow.count_message();
  }
}

void feed_callback(stream_core& flow, subscriber& source,
                   const std::function<void(const data_message&)>& on_message) {
  while (!flow.stopping()) {
    const auto batch = source.get_batch(stream_batch_messages);
    if (!batch)
      return;
    for (const auto& msg : *batch) {
      if (flow.stopping())
        return;
      on_message(msg);
      flow.count_message();
    }
  }
}

} // namespace

stream endpoint::publish_all(std::function<data_message()> next, task_runner runner) {
  auto flow = std::make_shared<stream_core>();
  flow->start([owner = core_,
               next = std::move(next)](stream_core& self) { drain_generator(self, *owner, next); },
              {}, runner);
  return stream{std::move(flow)};
}

namespace {

/// Calls `on_message` for what `from` receives.
std::shared_ptr<stream_core> start_feeding(subscriber from,
                                           std::function<void(const data_message&)> on_message,
                                           const task_runner& runner) {
  auto source = std::make_shared<subscriber>(std::move(from));
  auto flow = std::make_shared<stream_core>();
  flow->start([source, on_message = std::move(on_message)](
                  stream_core& self) { feed_callback(self, *source, on_message); },
              [source] { source->close(); }, runner);
  return flow;
}

} // namespace

stream endpoint::subscribe(pubsub::filter topics,
                           std::function<void(const data_message&)> on_message,
                           const queue_options& options, task_runner runner) {
  return stream{
      start_feeding(make_subscriber(std::move(topics), options), std::move(on_message), runner)};
}

stream endpoint::subscribe(pubsub::filter topics,
                           std::function<void(const data_message&)> on_message,
                           const condition& where, const queue_options& options,
                           task_runner runner) {
  return stream{start_feeding(make_subscriber(std::move(topics), where, options),
                              std::move(on_message), runner)};
}

} // namespace pubsub
