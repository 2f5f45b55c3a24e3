// SPDX-License-Identifier: BSD-3-Clause
#include "shim_link.hpp"

#include <stdexcept>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace faults {

namespace {

/// Small buffers, so that little is under way and a reader that stops is felt soon.
constexpr int socket_buffer_bytes = 128 * 1024;

void tune(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay{true}, ignored);
  socket.set_option(asio::socket_base::send_buffer_size{socket_buffer_bytes}, ignored);
  socket.set_option(asio::socket_base::receive_buffer_size{socket_buffer_bytes}, ignored);
}

/// The other end gets a reset, not an end of stream.
void cut(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger{true, 0}, ignored);
  socket.close(ignored);
}

} // namespace

class connection {
public:
  connection(tcp::socket accepted, std::shared_ptr<direction> there,
             std::shared_ptr<direction> back)
      : near(std::move(accepted)), far(near.get_executor()), forward_rules(std::move(there)),
        backward_rules(std::move(back)) {}

  void reset() {
    stop();
    cut(near);
    cut(far);
  }
  void close() {
    stop();
    boost::system::error_code ignored;
    near.close(ignored);
    far.close(ignored);
  }
  void stop() {
    forward.stop();
    backward.stop();
  }
  void wake() {
    forward.wake();
    backward.wake();
  }

  tcp::socket near;
  tcp::socket far;
  std::shared_ptr<direction> forward_rules;
  std::shared_ptr<direction> backward_rules;
  pump forward{near, far, *forward_rules};
  pump backward{far, near, *backward_rules};
  int ended = 0; // directions that are through
};

namespace {

/// Reads what a half-open end sends, for nobody.
asio::awaitable<void> drain(std::shared_ptr<connection> who, std::shared_ptr<direction> lost) {
  std::vector<char> bytes(64 * 1024);
  for (boost::system::error_code failure; !failure;)
    lost->vanished_bytes += co_await who->near.async_read_some(
        asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, failure));
}

/// Keeps the connection while its pump reads.
asio::awaitable<void> read(std::shared_ptr<connection>, pump& each) {
  co_await each.read();
}

} // namespace

shim_link::shim_link(asio::io_context& loop, std::uint16_t to, std::uint64_t seed)
    : loop_(loop), acceptor_(loop, {asio::ip::address_v4::loopback(), 0}), to_(to), healing_(loop) {
  forward_->dice.seed(seed);
  backward_->dice.seed(seed + 1);
  asio::co_spawn(loop_, accept(), asio::detached);
}

shim_link::~shim_link() {
  reset();
}

asio::awaitable<void> shim_link::accept() {
  while (true) {
    boost::system::error_code failure;
    auto near = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, failure));
    if (failure == asio::error::operation_aborted)
      co_return;
    if (failure)
      continue;
    ++accepted_;
    if (down_) {
      cut(near);
      continue;
    }
    auto who = std::make_shared<connection>(std::move(near), forward_, backward_);
    connections_.insert(who);
    asio::co_spawn(loop_, serve(std::move(who)), asio::detached);
  }
}

asio::awaitable<void> shim_link::serve(std::shared_ptr<connection> who) {
  boost::system::error_code failure;
  tune(who->near);
  co_await who->far.async_connect({asio::ip::address_v4::loopback(), to_},
                                  asio::redirect_error(asio::use_awaitable, failure));
  if (failure || !who->near.is_open()) {
    connections_.erase(who);
    who->reset();
    co_return;
  }
  tune(who->far);
  asio::co_spawn(loop_, read(who, who->forward), asio::detached);
  asio::co_spawn(loop_, read(who, who->backward), asio::detached);
  asio::co_spawn(loop_, write(who, who->backward), asio::detached);
  co_await write(who, who->forward);
}

/// Writes one direction to its end; the second to end ends the connection, and so does a broken
/// one.
asio::awaitable<void> shim_link::write(std::shared_ptr<connection> who, pump& each) {
  const bool whole = co_await each.write();
  if (each.stopped() || (whole && ++who->ended < 2))
    co_return;
  connections_.erase(who);
  if (whole)
    who->close();
  else
    who->reset();
}

template <class Change>
void shim_link::change(const std::string& which, Change apply) {
  if (which != "forward" && which != "backward" && which != "both")
    throw std::runtime_error{"there is no direction " + which};
  if (which != "backward")
    apply(*forward_);
  if (which != "forward")
    apply(*backward_);
  wake_all();
}

void shim_link::wake_all() {
  for (const auto& each : connections_)
    each->wake();
}

void shim_link::shape(const std::string& which, const shaping& how) {
  change(which, [&](direction& each) { each.shape = how; });
}

std::size_t shim_link::reset() {
  auto all = std::exchange(connections_, {});
  all.merge(half_open_);
  half_open_.clear();
  for (const auto& each : all)
    each->reset();
  resets_ += all.size();
  return all.size();
}

void shim_link::down() {
  down_ = true;
  reset();
}

void shim_link::stall(const std::string& which) {
  change(which, [](direction& each) { each.stalled = true; });
}

void shim_link::vanish() {
  for (const auto& each : connections_) {
    each->stop();
    cut(each->far);
    boost::system::error_code ignored;
    each->near.cancel(ignored); // the pump lets go of it
    asio::co_spawn(loop_, drain(each, lost_), asio::detached);
    half_open_.insert(each);
  }
  connections_.clear();
}

void shim_link::heal() {
  healing_due_ = false;
  healing_.cancel();
  down_ = false;
  forward_->stalled = backward_->stalled = false;
  for (const auto& each : std::exchange(half_open_, {}))
    each->reset();
  wake_all();
}

void shim_link::heal_after(std::chrono::milliseconds time) {
  healing_due_ = true;
  healing_.expires_after(time);
  healing_.async_wait([this](const boost::system::error_code& failure) {
    if (!failure && healing_due_)
      heal();
  });
}

json_object shim_link::status() const {
  return json_object{}
      .add("healthy", !down_ && !stalled() && half_open_.empty())
      .add("connections", connections_.size())
      .add("half_open", half_open_.size())
      .add("accepted", accepted_)
      .add("resets", resets_)
      .add("forward_bytes", forward_->carried_bytes)
      .add("backward_bytes", backward_->carried_bytes)
      .add("vanished_bytes", lost_->vanished_bytes);
}

} // namespace faults
