#include "transport/tls/tls_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <sys/socket.h>

#include <openssl/bio.h>

namespace pubsub {

namespace {

tls_socket& socket_of(BIO* bio) {
  return *static_cast<tls_socket*>(BIO_get_data(bio));
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int note_failure(tls_socket& x) {
  if (x.failure == 0)
    x.failure = errno;
  return -1;
}

void note_beginning(tls_socket& x, std::span<const std::byte> bytes) {
  const auto n = std::min(bytes.size(), x.beginning.size() - x.beginning_bytes);
  std::copy_n(bytes.begin(), n,
              x.beginning.begin() + static_cast<std::ptrdiff_t>(x.beginning_bytes));
  x.beginning_bytes += n;
}

int read_from(BIO* bio, char* into, int size) {
  auto& x = socket_of(bio);
  BIO_clear_retry_flags(bio);
  const auto n = ::recv(x.fd, into, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (n < 0) {
    if (!would_block())
      return note_failure(x);
    BIO_set_retry_read(bio);
    return -1;
  }
  x.ended = n == 0;
  note_beginning(x, std::as_bytes(std::span{into, static_cast<std::size_t>(n)}));
  return static_cast<int>(n);
}

int write_to(BIO* bio, const char* from, int size) {
  auto& x = socket_of(bio);
  BIO_clear_retry_flags(bio);
  const auto n = ::send(x.fd, from, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n >= 0)
    return static_cast<int>(n);
  if (!would_block())
    return note_failure(x);
  BIO_set_retry_write(bio);
  return -1;
}

long control(BIO* bio, int what, long /*number*/, void* /*pointer*/) {
  if (what == BIO_CTRL_EOF)
    return socket_of(bio).ended ? 1 : 0;
  return what == BIO_CTRL_FLUSH ? 1 : 0; // nothing is held back
}

} // namespace

BIO_METHOD* make_tls_socket_method() {
  auto* const result = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "pubsub socket");
  if (result == nullptr)
    throw std::bad_alloc{};
  BIO_meth_set_read(result, read_from);
  BIO_meth_set_write(result, write_to);
  BIO_meth_set_ctrl(result, control);
  return result;
}

BIO* make_bio(BIO_METHOD* method, tls_socket& socket) {
  auto* const result = BIO_new(method);
  if (result == nullptr)
    throw std::bad_alloc{};
  BIO_set_data(result, &socket);
  BIO_set_init(result, 1);
  return result;
}

} // namespace pubsub
