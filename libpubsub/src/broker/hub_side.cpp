// Broker 2.8 and later: the bridge is a hub of the endpoint. Values are bin::v1 there as they are
// here, so that they are copied as they are. SPDX-License-Identifier: BSD-3-Clause
#include "broker/broker_side.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <broker/data_envelope.hh>
#include <broker/endpoint.hh>
#include <broker/endpoint_id.hh>
#include <broker/filter_type.hh>
#include <broker/hub.hh>
#include <poll.h>
#include <pubsub/data_view.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

namespace pubsub::broker {

namespace {

/// How long to wait before looking again whether there is room, or an end.
constexpr int patience_ms = 20;

/// The receiver of what the bridges of this process give: no endpoint has it. So Broker sends it to
/// none of its peers, its own subscribers and hubs do not look at that, and other bridges know it
/// by that.
const ::broker::endpoint_id& no_endpoint() {
  static const auto id = ::broker::endpoint_id::random();
  return id;
}

/// A hub gets what the program, Broker's peers and other hubs publish, never what it has published
/// itself; what other bridges have given is left out here.
class hub_side : public broker_side {
public:
  hub_side(::broker::hub opened, std::shared_ptr<inlet> to, std::function<void()> on_gone)
      : hub_(std::move(opened)), inlet_(std::move(to)), on_gone_(std::move(on_gone)),
        stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), reader_([this] { read_all(); }) {}
  ~hub_side() override {
    stop();
    ::close(stop_);
  }

  bool wait_ready(deadline) override { return !gone(); } // it is when it is made
  bool give(const std::vector<data_message>& messages) override {
    for (const auto& each : messages) {
      const auto value = get_view(each).bytes();
      if (!data_view::make(value)) { // nested too deeply
        unconvertible_.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      auto made =
          ::broker::data_envelope::deserialize(::broker::endpoint_id::nil(), no_endpoint(), 1,
                                               get_topic(each), value.data(), value.size());
      if (!made) {
        unconvertible_.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      if (!wait_for_room())
        return false;
      given_.fetch_add(1, std::memory_order_release);
      hub_.publish(std::move(*made));
    }
    return true;
  }
  void limit(deadline until) override {
    std::lock_guard lock{mutex_};
    limit_ = until;
  }
  std::uint64_t given() const override { return given_.load(std::memory_order_acquire); }
  std::uint64_t unconvertible() const override {
    return unconvertible_.load(std::memory_order_relaxed);
  }
  void resume() override { wake(); }
  void leave(deadline until) override {
    while (hub_.buffered() > 0 && !cancelled() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds{1}); // Broker does not tell
    stop();
    gone_ = true;
  }
  bool gone() const override { return gone_; }

private:
  /// Broker reads no more from the hub: it says that there is room, and gives none. For the
  /// thread that publishes: another one could use the room up between the two looks.
  bool cancelled() const {
    pollfd writing{hub_.write_fd(), POLLIN, 0};
    return ::poll(&writing, 1, 0) > 0 && hub_.demand() == 0;
  }
  bool wait_for_room() {
    while (hub_.demand() == 0) {
      if (gone_ || cancelled() || is_over())
        return false;
      pollfd writing{hub_.write_fd(), POLLIN, 0};
      ::poll(&writing, 1, patience_ms);
    }
    return !gone_;
  }
  bool is_over() const {
    std::lock_guard lock{mutex_};
    return limit_ && std::chrono::steady_clock::now() >= *limit_;
  }

  void read_all() {
    while (!stopping_) {
      const bool held_back = inlet_->holds_back();
      pollfd waited_for[] = {{stop_, POLLIN, 0}, {hub_.read_fd(), POLLIN, 0}};
      ::poll(waited_for, held_back ? 1 : 2, -1);
      clear();
      if (!stopping_ && !held_back && waited_for[1].revents != 0 && !read_some() && has_ended())
        return end();
    }
  }
  /// Broker wakes a hub whose input has ended as it does one that has got a message, which may have
  /// been read by then. `get` tells: it throws at the end, and does not wait otherwise, but returns
  /// nothing where there is nothing.
  bool has_ended() {
    try {
      if (const auto message = hub_.get()) {
        take(message);
        inlet_->commit();
      }
      return false;
    } catch (const std::exception&) {
      return true;
    }
  }
  /// False if there was nothing.
  bool read_some() {
    const auto messages = hub_.poll();
    for (const auto& each : messages)
      take(each);
    inlet_->commit();
    return !messages.empty();
  }
  void take(const ::broker::data_message& message) {
    if (message->receiver() == no_endpoint())
      return;
    const auto topic = message->topic();
    const auto [bytes, size] = message->raw_bytes();
    const std::span value{bytes, size};
    inlet_->add(topic, [&](data_writer& out) {
      return data_view::make(value) && (out.write_encoded(value), true);
    });
  }
  void end() {
    if (on_gone_)
      on_gone_();
    gone_ = true;
  }

  void wake() {
    const std::uint64_t one = 1;
    (void)!::write(stop_, &one, sizeof(one));
  }
  void clear() {
    std::uint64_t count = 0;
    (void)!::read(stop_, &count, sizeof(count));
  }
  void stop() {
    stopping_ = true;
    wake();
    if (reader_.joinable())
      reader_.join();
  }

  ::broker::hub hub_;
  const std::shared_ptr<inlet> inlet_;
  const std::function<void()> on_gone_;
  const int stop_; // readable where the reader is to look
  std::atomic<std::uint64_t> given_{0};
  std::atomic<std::uint64_t> unconvertible_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> gone_{false};
  mutable std::mutex mutex_; // guards the following
  std::optional<deadline> limit_;
  std::thread reader_;
};

} // namespace

expected<std::shared_ptr<broker_side>> enter(::broker::endpoint& theirs, const filter& wanted,
                                             std::shared_ptr<inlet> to,
                                             std::function<void()> on_gone) {
  if (theirs.is_shutdown())
    return error{errc::shutting_down, "Broker's endpoint is shut down"};
  ::broker::filter_type topics;
  for (const auto& each : wanted)
    topics.emplace_back(std::string{each});
  try {
    return std::shared_ptr<broker_side>{std::make_shared<hub_side>(
        ::broker::hub::make(theirs, std::move(topics)), std::move(to), std::move(on_gone))};
  } catch (const std::exception& refused) {
    return error{errc::unspecified, std::string{"Broker makes no hub: "} + refused.what()};
  }
}

} // namespace pubsub::broker
