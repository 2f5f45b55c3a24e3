#include <pubsub/stream.hpp>

#include "endpoint/stream_core.hpp"

namespace pubsub {

stream_core::~stream_core() {
  if (!thread_.joinable())
    return;
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach(); // the last handle went away inside the callback
  else
    thread_.join();
}

void stream_core::start(std::function<void(stream_core&)> body, std::function<void()> on_stop,
                        const task_runner& runner) {
  on_stop_ = std::move(on_stop);
  auto task = [self = shared_from_this(), body = std::move(body)] { self->run(body); };
  if (runner)
    runner(std::move(task));
  else
    thread_ = std::thread{std::move(task)};
}

void stream_core::run(const std::function<void(stream_core&)>& body) {
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

void stream_core::stop() noexcept {
  if (!stopping_.exchange(true) && on_stop_)
    on_stop_();
}

void stream_core::wait() {
  std::unique_lock lock{mutex_};
  ended_.wait(lock, [&] { return done_.load(std::memory_order_acquire); });
  if (auto failure = std::exchange(failure_, nullptr))
    std::rethrow_exception(failure);
}

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

} // namespace pubsub
