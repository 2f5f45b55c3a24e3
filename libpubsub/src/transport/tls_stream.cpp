#include "transport/tls_stream.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

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

const error_code broken = make_error_code(boost::system::errc::protocol_error);

} // namespace

void tls_stream::ssl_deleter::operator()(SSL* x) const noexcept {
  SSL_free(x);
}

tls_stream::tls_stream(std::shared_ptr<asio::io_context> loop, tcp::socket socket,
                       std::shared_ptr<const tls_context> context, tls_role role,
                       std::vector<std::byte> refusal)
    : loop_(std::move(loop)), context_(std::move(context)), refusal_(std::move(refusal)),
      socket_(std::move(socket)), ssl_(SSL_new(context_->get())) {
  if (!ssl_)
    throw std::bad_alloc{};
  tune(socket_);
  raw_.fd = socket_.native_handle();
  auto* const bio = make_bio(context_->socket_method(), raw_);
  SSL_set_bio(ssl_.get(), bio, bio);
  if (role == tls_role::client)
    SSL_set_connect_state(ssl_.get());
  else
    SSL_set_accept_state(ssl_.get());
}

// -- waiting -----------------------------------------------------------------------------------

void tls_stream::wait_for(tcp::socket::wait_type what, step next) {
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

void tls_stream::soon(step next) {
  asio::post(*loop_, [self = shared_from_this(), next] { ((*self).*next)(); });
}

/// Called with what a call of OpenSSL has come back with.
void tls_stream::go_on_after(outcome x, step next) {
  if (x == outcome::wants_read)
    wait_for(tcp::socket::wait_read, next);
  else if (x == outcome::wants_write)
    wait_for(tcp::socket::wait_write, next);
  else
    fail();
}

tls_stream::outcome tls_stream::outcome_of(int result) noexcept {
  switch (SSL_get_error(ssl_.get(), result)) {
  case SSL_ERROR_NONE:
    return outcome::done;
  case SSL_ERROR_WANT_READ:
    return outcome::wants_read;
  case SSL_ERROR_WANT_WRITE:
    return outcome::wants_write;
  case SSL_ERROR_ZERO_RETURN:
    return outcome::ended;
  default:
    return outcome::failed;
  }
}

// -- the handshake -----------------------------------------------------------------------------

void tls_stream::start() {
  if (stage_ != stage::fresh)
    return;
  {
    std::lock_guard lock{mutex_};
    stage_ = stage::shaking;
  }
  shake_hands();
}

void tls_stream::shake_hands() {
  auto result = outcome::failed;
  {
    std::lock_guard lock{mutex_};
    ERR_clear_error();
    result = outcome_of(SSL_do_handshake(ssl_.get()));
    if (result == outcome::done) {
      record_.reserve(max_record_bytes);
      stage_ = stage::established;
    }
  }
  if (result != outcome::done)
    return go_on_after(result, &tls_stream::shake_hands);
  write_now();
  read_now();
}

// -- reading -----------------------------------------------------------------------------------

void tls_stream::read_some(asio::mutable_buffer into, handler on_done) {
  into_ = into;
  on_read_ = std::move(on_done);
  if (stage_ == stage::fresh)
    soon(&tls_stream::start);
  else if (stage_ == stage::established && !more_to_read_)
    wait_for(tcp::socket::wait_read, &tls_stream::read_now);
  else if (stage_ != stage::shaking)
    soon(&tls_stream::read_now);
}

void tls_stream::read_now() {
  if (stage_ == stage::failed)
    return end_read(broken, 0);
  if (stage_ != stage::established || !on_read_)
    return;
  std::size_t size = 0;
  const auto result = read_records(size);
  more_to_read_ = result == outcome::done || result == outcome::ended;
  if (size > 0) {
    if (result == outcome::failed)
      note_failure(); // told when what came before it has been taken
    return end_read({}, size);
  }
  if (result == outcome::ended)
    return end_read(asio::error::eof, 0);
  go_on_after(result, &tls_stream::read_now);
}

/// As much as there is room for; a publisher may write between two records.
tls_stream::outcome tls_stream::read_records(std::size_t& size) {
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
  return outcome::done;
}

void tls_stream::end_read(const error_code& failure, std::size_t transferred) {
  if (auto on_done = std::exchange(on_read_, {}))
    on_done(failure, transferred);
}

// -- writing -----------------------------------------------------------------------------------

std::size_t tls_stream::try_write(std::span<const asio::const_buffer> from) noexcept {
  std::unique_lock lock{mutex_, std::try_to_lock};
  if (!lock || stage_ != stage::established)
    return 0;
  auto result = outcome::done;
  const auto written = write_records(from, result);
  ERR_clear_error(); // this is a thread of the host program
  return written;
}

void tls_stream::write_some(std::span<const asio::const_buffer> from, handler on_done) {
  from_ = from;
  on_written_ = std::move(on_done);
  if (stage_ == stage::fresh)
    soon(&tls_stream::start);
  else if (stage_ != stage::shaking)
    soon(&tls_stream::write_now);
}

void tls_stream::write_now() {
  if (stage_ == stage::failed)
    return end_write(broken, 0);
  if (stage_ != stage::established || !on_written_)
    return;
  auto result = outcome::done;
  std::size_t written = 0;
  {
    std::lock_guard lock{mutex_};
    written = write_records(from_, result);
  }
  if (written > 0 || result == outcome::done)
    return end_write({}, written);
  if (result == outcome::failed)
    read_now(); // a peer that has gone may have said why
  if (stage_ == stage::established)
    go_on_after(result, &tls_stream::write_now);
}

/// Called with the mutex held. Returns how much of `from` is written.
std::size_t tls_stream::write_records(std::span<const asio::const_buffer> from,
                                      outcome& result) noexcept {
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
void tls_stream::fill_record(std::span<const asio::const_buffer> from,
                             std::size_t skipped) noexcept {
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

void tls_stream::end_write(const error_code& failure, std::size_t transferred) {
  if (auto on_done = std::exchange(on_written_, {}))
    on_done(failure, transferred);
}

// -- the end -----------------------------------------------------------------------------------

/// A client that waits in the clear for our probe is told why none comes. (A server has sent its
/// own, and knows our hello for what it is.)
void tls_stream::answer_plain_text() {
  if (refusal_.empty() || stage_ != stage::shaking || raw_.beginning_bytes < 3 ||
      looks_like_tls(raw_.begins_with()))
    return;
  [[maybe_unused]] const auto sent = // if that is not possible at once it need not be
      ::send(raw_.fd, refusal_.data(), refusal_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void tls_stream::note_failure() {
  std::lock_guard lock{mutex_};
  answer_plain_text();
  failure_ = explain_tls_failure(ssl_.get(), raw_,
                                 stage_ == stage::established ? tls_stage::established
                                                              : tls_stage::handshake);
  stage_ = stage::failed;
}

void tls_stream::fail() {
  note_failure();
  end_read(broken, 0);
  end_write(broken, 0);
}

void tls_stream::close() noexcept {
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
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  for (auto* each : {&on_read_, &on_written_})
    if (*each)
      asio::post(*loop_, [on_done = std::exchange(*each, {})] {
        on_done(asio::error::operation_aborted, 0);
      });
}

} // namespace pubsub
