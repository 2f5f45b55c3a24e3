// SPDX-License-Identifier: BSD-3-Clause
#include "transport/memory/memory_connection.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <sys/socket.h>

#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "transport/memory/passed_fds.hpp"
#include "transport/memory/shared_region.hpp"
#include "transport/tuning.hpp"

namespace pubsub {

namespace {

error_code last_error() noexcept {
  return {errno, boost::system::system_category()};
}

bool would_block(const error_code& failure) noexcept {
  return failure == asio::error::would_block || failure == asio::error::try_again ||
         failure == asio::error::interrupted;
}

/// The state of such a connection, kept alive by what waits for its sockets. Handlers are called
/// from the loop only, never by a member function that takes one.
class memory_connection final : public connection,
                                public std::enable_shared_from_this<memory_connection> {
public:
  memory_connection(std::shared_ptr<asio::io_context> loop, stream_protocol::socket socket,
                    memory_role role, const shared_memory_options& options)
      : connection(std::move(loop), std::move(socket)), role_(role), options_(options),
        fd_(socket_.native_handle()), bell_(*loop_) {}

  void read_some(asio::mutable_buffer into, handler on_done) override {
    into_ = into;
    on_read_ = std::move(on_done);
    soon(&memory_connection::read_now);
  }

  std::size_t try_write(std::span<const asio::const_buffer> from) noexcept override {
    std::lock_guard lock{mutex_};
    error_code ignored; // shows in the next `write_some`
    return closed_ ? 0 : write(from, ignored);
  }

  void write_some(std::span<const asio::const_buffer> from, handler on_done) override {
    from_ = from;
    on_written_ = std::move(on_done);
    soon(&memory_connection::write_now);
  }

  void close() noexcept override {
    {
      std::lock_guard lock{mutex_};
      if (std::exchange(closed_, true))
        return;
      writer_.reset();
      proposal_.reset();
    }
    reader_.reset();
    region_.reset();
    shared_bytes_.store(0, std::memory_order_relaxed);
    error_code ignored;
    bell_.close(ignored);
    connection::close();
    abort_later(on_read_);
    abort_later(on_written_);
  }

  error explain(const error_code& failure) const override {
    return lie_ ? lie_ : connection::explain(failure);
  }

  std::size_t shared_bytes() const noexcept override {
    return shared_bytes_.load(std::memory_order_relaxed);
  }

private:
  using step = void (memory_connection::*)();

  void soon(step next) {
    asio::post(*loop_, [self = shared_from_this(), next] { ((*self).*next)(); });
  }

  static void end(handler& waiting, const error_code& failure, std::size_t transferred) {
    if (auto on_done = std::exchange(waiting, {}))
      on_done(failure, transferred);
  }

  /// The peer has written what cannot be true.
  void end_with_lie(handler& waiting) {
    lie_ = {errc::logic_error, "the peer has put impossible positions into shared memory"};
    end(waiting, asio::error::fault, 0);
  }

  // -- reading ----------------------------------------------------------------------------------

  void read_now() {
    if (!on_read_ || closed_)
      return;
    if (reader_)
      read_memory();
    else
      read_socket();
  }

  void read_memory() {
    do {
      const auto n = reader_->read(into_);
      if (!n)
        return end_with_lie(on_read_);
      if (*n > 0) {
        if (reader_->finds_writer_asleep())
          ring();
        return end(on_read_, {}, *n);
      }
      if (peer_gone_)
        return end(on_read_, asio::error::eof, 0);
    } while (reader_->sleep_fails());
  }

  void read_socket() {
    if (goes_on_in_memory())
      return;
    auto room = into_.size();
    if (stream_end_)
      room = std::min<std::size_t>(room, *stream_end_ - received_);
    passed_fds passed;
    const auto n = passed.receive(fd_, {into_.data(), room});
    if (n < 0)
      return would_block(last_error()) ? await_bytes() : end(on_read_, last_error(), 0);
    if (n == 0 && goes_on_in_memory()) // it has moved before it went
      return;
    if (n == 0)
      return end(on_read_, asio::error::eof, 0);
    received_ += static_cast<std::uint64_t>(n);
    count(static_cast<std::size_t>(n));
    if (role_ == memory_role::agrees && !passed.empty() && !std::exchange(has_answered_, true))
      agree(passed);
    end(on_read_, {}, static_cast<std::size_t>(n));
  }

  /// Whether the peer's stream goes on in memory from here, where the rest is then read.
  bool goes_on_in_memory() {
    if (!region_)
      return false;
    if (!stream_end_)
      if (const auto begins = region_->incoming().control->begins_at.load(); begins > 0)
        stream_end_ = begins - 1;
    if (!stream_end_ || *stream_end_ > received_)
      return false;
    if (*stream_end_ < received_) {
      end_with_lie(on_read_);
      return true;
    }
    reader_.emplace(region_->incoming());
    read_memory();
    return true;
  }

  void await_bytes() {
    if (std::exchange(awaits_bytes_, true))
      return;
    socket_.async_wait(stream_protocol::socket::wait_read,
                       [self = shared_from_this()](error_code failure) {
                         self->awaits_bytes_ = false;
                         if (!failure)
                           self->read_now();
                       });
  }

  // -- writing ----------------------------------------------------------------------------------

  /// With the mutex held: what can be written at once.
  std::size_t write(std::span<const asio::const_buffer> from, error_code& failure) noexcept {
    if (!writer_)
      return write_socket(from, failure);
    const auto n = writer_->write(from);
    if (!n)
      failure = asio::error::fault;
    else if (*n == 0)
      failure = asio::error::would_block;
    else if (writer_->finds_reader_asleep())
      ring();
    return n.value_or(0);
  }

  std::size_t write_socket(std::span<const asio::const_buffer> from, error_code& failure) noexcept {
    const auto n = proposal_ ? proposal_->send(fd_, from) : send_bytes(fd_, from);
    if (n < 0) {
      failure = last_error();
      return 0;
    }
    sent_ += static_cast<std::uint64_t>(n);
    count(static_cast<std::size_t>(n));
    proposal_.reset();
    return static_cast<std::size_t>(n);
  }

  void write_now() {
    if (!on_written_ || closed_)
      return;
    if (peer_gone_)
      return end(on_written_, asio::error::broken_pipe, 0);
    error_code failure;
    std::size_t written = 0;
    bool in_memory = false;
    {
      std::lock_guard lock{mutex_};
      in_memory = writer_.has_value();
      do
        written = write(from_, failure = {});
      while (in_memory && failure == asio::error::would_block && writer_->sleep_fails());
    }
    if (written > 0)
      return end(on_written_, {}, written);
    if (failure == asio::error::fault)
      return end_with_lie(on_written_);
    if (!would_block(failure))
      return end(on_written_, failure, 0);
    if (!in_memory)
      await_room();
  }

  void await_room() {
    if (std::exchange(awaits_room_, true))
      return;
    socket_.async_wait(stream_protocol::socket::wait_write,
                       [self = shared_from_this()](error_code failure) {
                         self->awaits_room_ = false;
                         if (!failure)
                           self->write_now();
                       });
  }

  // -- from the socket to memory ------------------------------------------------------------------

  /// From any thread: the socket has carried so much more.
  void count(std::size_t bytes) noexcept {
    const auto before = carried_.fetch_add(bytes, std::memory_order_relaxed);
    if (role_ == memory_role::proposes && before < tuning::bytes_before_memory &&
        before + bytes >= tuning::bytes_before_memory)
      try {
        soon(&memory_connection::propose);
      } catch (const std::exception&) { // out of memory: the socket carries on
      }
  }

  /// The descriptors go with what is written next. Where the system refuses, the socket carries on.
  void propose() {
    if (closed_)
      return;
    auto made = shared_region::make(options_);
    auto bell = made ? make_bell() : std::nullopt;
    if (!bell || !adopt_bell(std::move(bell->first)))
      return log(log_level::warning, "a connection stays on its socket: " +
                                         (made ? last_error().message() : made.error().context()));
    std::lock_guard lock{mutex_};
    proposal_.emplace(made->release_fd(), std::move(bell->second));
    region_.emplace(std::move(*made));
    await_bell();
  }

  void agree(passed_fds& passed) {
    auto [memory, bell] = passed.take_pair();
    auto taken = shared_region::take(std::move(memory),
                                     std::max(options_.ring_bytes, tuning::most_agreed_ring_bytes));
    if (!taken || !is_bell(bell) || !adopt_bell(std::move(bell)))
      return log(log_level::warning,
                 "a connection stays on its socket: " +
                     (taken ? "the peer has sent no bell" : taken.error().context()));
    region_.emplace(std::move(*taken));
    await_bell();
    move_writing();
  }

  bool adopt_bell(unique_fd bell) {
    error_code failure;
    bell_.assign(stream_protocol{AF_UNIX, 0}, bell.get(), failure);
    if (!failure)
      bell.release();
    return !failure;
  }

  /// What is written from here on goes into memory.
  void move_writing() {
    {
      std::lock_guard lock{mutex_};
      const auto ring = region_->outgoing();
      ring.control->begins_at.store(sent_ + 1);
      writer_.emplace(ring);
    }
    shared_bytes_.store(region_->bytes(), std::memory_order_relaxed);
    ring();
    write_now(); // what has waited for the socket
  }

  // -- the bell -----------------------------------------------------------------------------------

  /// Where it cannot be rung the peer has more than enough to hear, or is gone.
  void ring() noexcept {
    [[maybe_unused]] const auto sent =
        ::send(bell_.native_handle(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  void await_bell() {
    bell_.async_wait(stream_protocol::socket::wait_read,
                     [self = shared_from_this()](error_code failure) {
                       if (!failure && !self->closed_)
                         self->on_bell();
                     });
  }

  void on_bell() {
    std::byte rung[64]; // more would wake this side again
    const auto n = ::recv(bell_.native_handle(), rung, sizeof rung, MSG_DONTWAIT);
    peer_gone_ = n == 0 || (n < 0 && !would_block(last_error()));
    const bool has_moved = shared_bytes_ > 0;
    if (!has_moved && peer_has_moved())
      move_writing();
    else if (!has_moved && peer_gone_)
      return stay_on_socket();
    else
      write_now();
    read_now();
    if (!closed_ && !peer_gone_)
      await_bell();
  }

  /// Once it has, and this side has noticed, that stays so, whatever the peer writes there later.
  bool peer_has_moved() const noexcept {
    return stream_end_ || region_->incoming().control->begins_at.load() != 0;
  }

  /// The peer has not taken the memory.
  void stay_on_socket() {
    peer_gone_ = false;
    region_.reset();
    error_code ignored;
    bell_.close(ignored);
  }

  // -- the state ----------------------------------------------------------------------------------

  const memory_role role_;
  const shared_memory_options options_;
  const int fd_; // of the socket

  std::mutex mutex_;                  // guards the following, while publishers may write
  bool closed_ = false;               // changed on the loop only
  std::uint64_t sent_ = 0;            // by the socket
  std::optional<proposal> proposal_;  // not yet sent
  std::optional<ring_writer> writer_; // once this side has moved

  std::atomic<std::uint64_t> carried_{0};    // by the socket, in both directions
  std::atomic<std::size_t> shared_bytes_{0}; // 0 until this side has moved

  // On the loop only:
  std::optional<shared_region> region_;
  stream_protocol::socket bell_; // closed until there is memory
  bool has_answered_ = false;    // a proposal: there is one for each connection
  bool peer_gone_ = false;
  std::uint64_t received_ = 0;              // by the socket
  std::optional<std::uint64_t> stream_end_; // where the peer leaves the socket
  std::optional<ring_reader> reader_;       // once the peer has moved
  asio::mutable_buffer into_;
  handler on_read_;
  bool awaits_bytes_ = false;
  std::span<const asio::const_buffer> from_;
  handler on_written_;
  bool awaits_room_ = false;
  error lie_;
};

} // namespace

std::shared_ptr<connection> make_memory_connection(std::shared_ptr<asio::io_context> loop,
                                                   stream_protocol::socket socket, memory_role role,
                                                   const shared_memory_options& options) {
  return std::make_shared<memory_connection>(std::move(loop), std::move(socket), role, options);
}

} // namespace pubsub
