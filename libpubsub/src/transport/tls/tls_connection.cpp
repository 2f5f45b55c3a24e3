// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tls/tls_connection.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "transport/tls/tls_socket.hpp"

namespace pubsub {

namespace {

constexpr std::size_t max_record_bytes = 16 * 1024; // RFC 8446, 5.1
constexpr std::size_t max_write_bytes = 256 * 1024; // then the loop may do something else

// What is left of a peer's input would make the kernel discard our last words to it.
void discard_input(int fd) noexcept {
  std::byte rest[4096];
  for (int i = 0; i < 16 && ::recv(fd, rest, sizeof rest, MSG_DONTWAIT) > 0; ++i) {
  }
}

/// Of SSL_get_error: neither done, nor ended in good order, nor waiting.
bool failed(int outcome) noexcept {
  return outcome != SSL_ERROR_NONE && outcome != SSL_ERROR_ZERO_RETURN &&
         outcome != SSL_ERROR_WANT_READ && outcome != SSL_ERROR_WANT_WRITE;
}

const error_code broken = make_error_code(boost::system::errc::protocol_error);

/// The state of an encrypted connection, kept alive by what waits for its socket. OpenSSL is called
/// when the socket is ready: from the loop, or by `try_write`. Handlers are called from the loop
/// only, never by a member function that takes one.
class tls_connection final : public connection,
                             public std::enable_shared_from_this<tls_connection> {
public:
  tls_connection(std::shared_ptr<asio::io_context> loop, stream_protocol::socket socket,
                 const tls_context& context, tls_role role, std::vector<std::byte> refusal)
      : connection(std::move(loop), std::move(socket)), refusal_(std::move(refusal)),
        ssl_(SSL_new(context.get())) {
    if (!ssl_)
      throw std::bad_alloc{};
    raw_.fd = socket_.native_handle();
    auto* const bio = make_bio(raw_);
    SSL_set_bio(ssl_.get(), bio, bio);
    if (role == tls_role::client)
      SSL_set_connect_state(ssl_.get());
    else
      SSL_set_accept_state(ssl_.get());
  }

  void read_some(asio::mutable_buffer into, handler on_done) override {
    into_ = into;
    on_read_ = std::move(on_done);
    if (stage_ == stage::fresh)
      soon(&tls_connection::start);
    else if (stage_ == stage::established && !more_to_read_)
      wait_for(stream_protocol::socket::wait_read, &tls_connection::read_now);
    else if (stage_ != stage::shaking)
      soon(&tls_connection::read_now);
  }

  std::size_t try_write(std::span<const asio::const_buffer> from) noexcept override {
    std::unique_lock lock{mutex_, std::try_to_lock};
    if (!lock || stage_ != stage::established)
      return 0;
    int result = SSL_ERROR_NONE;
    const auto written = write_records(from, result);
    ERR_clear_error(); // this is a thread of the host program
    return written;
  }

  void write_some(std::span<const asio::const_buffer> from, handler on_done) override {
    from_ = from;
    on_written_ = std::move(on_done);
    if (stage_ == stage::fresh)
      soon(&tls_connection::start);
    else if (stage_ != stage::shaking)
      soon(&tls_connection::write_now);
  }

  void close() noexcept override {
    if (stage_ == stage::closed)
      return;
    {
      std::lock_guard lock{mutex_};
      if (stage_ == stage::established && record_.empty())
        SSL_shutdown(ssl_.get()); // whether that is sent is all the same to the peer
      else if (stage_ == stage::failed)
        discard_input(raw_.fd);
      ERR_clear_error();
      stage_ = stage::closed;
    }
    connection::close();
    abort_later(on_read_);
    abort_later(on_written_);
  }
  error explain(const error_code& failure) const override {
    return failure_ ? failure_ : connection::explain(failure);
  }
  bool encrypted() const noexcept override { return true; }
  peer_identity identity() const override { return identity_; }
  bool has_spoken() const noexcept override { return spoken_.load(std::memory_order_relaxed); }

private:
  enum class stage : std::uint8_t { fresh, shaking, established, failed, closed };
  using step = void (tls_connection::*)();

  // -- waiting ----------------------------------------------------------------------------------

  void wait_for(stream_protocol::socket::wait_type what, step next) {
    socket_.async_wait(what, [self = shared_from_this(), next](error_code failure) {
      if (self->stage_ == stage::closed)
        return;
      if (failure) {
        {
          std::lock_guard lock{self->mutex_};
          self->raw_.failure = failure.value();
        }
        return self->fail();
      }
      ((*self).*next)();
    });
  }

  void soon(step next) {
    asio::post(*loop_, [self = shared_from_this(), next] { ((*self).*next)(); });
  }

  void go_on_after(int outcome, step next) {
    if (outcome == SSL_ERROR_WANT_READ)
      wait_for(stream_protocol::socket::wait_read, next);
    else if (outcome == SSL_ERROR_WANT_WRITE)
      wait_for(stream_protocol::socket::wait_write, next);
    else
      fail();
  }
  /// What a call of OpenSSL that has returned this has come to: SSL_ERROR_NONE and others.
  int outcome_of(int result) noexcept { return SSL_get_error(ssl_.get(), result); }

  // -- the handshake ----------------------------------------------------------------------------

  void start() {
    if (stage_ != stage::fresh)
      return;
    {
      std::lock_guard lock{mutex_};
      stage_ = stage::shaking;
    }
    shake_hands();
  }

  void shake_hands() {
    int result = SSL_ERROR_SSL;
    {
      std::lock_guard lock{mutex_};
      ERR_clear_error();
      result = outcome_of(SSL_do_handshake(ssl_.get()));
      spoken_.store(raw_.beginning_bytes > 0, std::memory_order_relaxed);
      if (result == SSL_ERROR_NONE) {
        record_.reserve(max_record_bytes);
        identity_ = peer_identity_of(ssl_.get());
        stage_ = stage::established;
      }
    }
    if (result != SSL_ERROR_NONE)
      return go_on_after(result, &tls_connection::shake_hands);
    write_now();
    read_now();
  }

  // -- reading ----------------------------------------------------------------------------------

  void read_now() {
    if (stage_ == stage::failed)
      return end(on_read_, broken, 0);
    if (stage_ != stage::established || !on_read_)
      return;
    std::size_t size = 0;
    const auto result = read_records(size);
    more_to_read_ = result == SSL_ERROR_NONE || result == SSL_ERROR_ZERO_RETURN;
    if (size > 0) {
      if (failed(result))
        note_failure(); // the next read fails with it, when what came before has been taken
      return end(on_read_, {}, size);
    }
    if (result == SSL_ERROR_ZERO_RETURN)
      return end(on_read_, asio::error::eof, 0);
    go_on_after(result, &tls_connection::read_now);
  }

  /// As much as there is room for; a publisher may write between two records.
  int read_records(std::size_t& size) {
    auto* const at = static_cast<std::byte*>(into_.data());
    while (size < into_.size()) {
      std::lock_guard lock{mutex_};
      ERR_clear_error();
      std::size_t n = 0;
      const auto result = SSL_read_ex(ssl_.get(), at + size, into_.size() - size, &n);
      if (result != 1)
        return outcome_of(result);
      size += n;
    }
    return SSL_ERROR_NONE;
  }

  static void end(handler& waiting, const error_code& failure, std::size_t transferred) {
    if (auto on_done = std::exchange(waiting, {}))
      on_done(failure, transferred);
  }

  // -- writing ----------------------------------------------------------------------------------

  void write_now() {
    if (stage_ == stage::failed)
      return end(on_written_, broken, 0);
    if (stage_ != stage::established || !on_written_)
      return;
    int result = SSL_ERROR_NONE;
    std::size_t written = 0;
    {
      std::lock_guard lock{mutex_};
      written = write_records(from_, result);
    }
    if (written > 0 || result == SSL_ERROR_NONE)
      return end(on_written_, {}, written);
    if (failed(result))
      read_now(); // a peer that has gone may have said why
    if (stage_ == stage::established)
      go_on_after(result, &tls_connection::write_now);
  }

  /// Called with the mutex held. Returns how much of `from` is written.
  std::size_t write_records(std::span<const asio::const_buffer> from, int& result) noexcept {
    std::size_t written = 0;
    while (written < max_write_bytes) {
      if (record_.empty()) // otherwise it is the beginning of `from`, and must be tried again
        fill_record(from, written);
      if (record_.empty())
        break;
      ERR_clear_error();
      std::size_t n = 0;
      const auto status = SSL_write_ex(ssl_.get(), record_.data(), record_.size(), &n);
      if (status != 1) {
        result = outcome_of(status);
        break;
      }
      written += record_.size();
      record_.clear();
    }
    return written;
  }

  /// The next bytes of `from` after the first `skipped`, in one piece; the room is reserved.
  void fill_record(std::span<const asio::const_buffer> from, std::size_t skipped) noexcept {
    for (const auto& each : from) {
      const auto here = std::min(skipped, each.size());
      skipped -= here;
      const auto n = std::min(each.size() - here, max_record_bytes - record_.size());
      const auto* const at = static_cast<const std::byte*>(each.data()) + here;
      record_.insert(record_.end(), at, at + n);
      if (record_.size() == max_record_bytes)
        return;
    }
  }

  // -- the end ----------------------------------------------------------------------------------

  /// A client that waits in the clear for our probe gets the refusal in its place. (A server has
  /// sent its own probe, and knows our hello for what it is.)
  void answer_plain_text() {
    if (refusal_.empty() || stage_ != stage::shaking || raw_.beginning_bytes < 3 ||
        looks_like_tls(raw_.begins_with()))
      return;
    [[maybe_unused]] const auto sent = // if that is not possible at once it need not be
        ::send(raw_.fd, refusal_.data(), refusal_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  void note_failure() {
    std::lock_guard lock{mutex_};
    answer_plain_text();
    failure_ = explain_tls_failure(ssl_.get(), raw_, stage_ == stage::established);
    stage_ = stage::failed;
  }

  void fail() {
    note_failure();
    end(on_read_, broken, 0);
    end(on_written_, broken, 0);
  }

  // -- the state --------------------------------------------------------------------------------

  const std::vector<std::byte> refusal_; // of plain text; empty at a client

  std::mutex mutex_; // guards the following while a publisher may write
  tls_socket raw_;
  peer_identity identity_; // known once established
  std::unique_ptr<SSL, decltype([](SSL* x) { SSL_free(x); })> ssl_;
  stage stage_ = stage::fresh;    // changed on the loop only
  std::vector<std::byte> record_; // what OpenSSL has not taken yet

  std::atomic<bool> spoken_{false};

  // On the loop only:
  asio::mutable_buffer into_;
  handler on_read_;
  bool more_to_read_ = false; // reading stopped because there was no room
  std::span<const asio::const_buffer> from_;
  handler on_written_;
  error failure_;
};

} // namespace

std::shared_ptr<connection> make_tls_connection(std::shared_ptr<asio::io_context> loop,
                                                stream_protocol::socket socket,
                                                const tls_context& context, tls_role role,
                                                std::vector<std::byte> refusal) {
  return std::make_shared<tls_connection>(std::move(loop), std::move(socket), context, role,
                                          std::move(refusal));
}

} // namespace pubsub
