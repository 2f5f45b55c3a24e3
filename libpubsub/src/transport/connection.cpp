// SPDX-License-Identifier: BSD-3-Clause
#include "transport/connection.hpp"

#include <cstddef>
#include <cstring>

#include <array>
#include <utility>

#include <netinet/tcp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace pubsub {

namespace {

/// As an address; empty for the side that has connected, which has no path.
std::string path_of(const stream_protocol::endpoint& local) {
  constexpr auto begin = offsetof(sockaddr_un, sun_path);
  if (local.size() <= begin)
    return {};
  const std::string path{reinterpret_cast<const char*>(local.data()) + begin, local.size() - begin};
  return "unix://" + std::string{path.c_str()};
}

/// Empty where the system knows none.
std::string name_of(uid_t user) {
  std::array<char, 4096> memory{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known = getpwuid_r(user, &entry, memory.data(), memory.size(), &found) == 0 && found;
  return known ? entry.pw_name : std::string{};
}

} // namespace

connection::connection(std::shared_ptr<asio::io_context> loop, stream_protocol::socket socket)
    : loop_(std::move(loop)), socket_(std::move(socket)) {
  error_code ignored; // both only make things faster, and a socket of the host never waits
  socket_.set_option(tcp::no_delay{true}, ignored);
  socket_.non_blocking(true, ignored);
}

void connection::read_some(asio::mutable_buffer into, handler on_done) {
  socket_.async_read_some(into, std::move(on_done));
}

std::size_t connection::try_write(std::span<const asio::const_buffer> from) noexcept {
  error_code would_block;
  return socket_.write_some(from, would_block);
}

void connection::write_some(std::span<const asio::const_buffer> from, handler on_done) {
  socket_.async_write_some(from, std::move(on_done));
}

void connection::close() noexcept {
  error_code ignored;
  socket_.shutdown(stream_protocol::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

void connection::abort_later(handler& waiting) {
  if (waiting)
    asio::post(*loop_, [on_done = std::exchange(waiting, {})] {
      on_done(asio::error::operation_aborted, 0);
    });
}

error connection::explain(const error_code& failure) const {
  const bool orderly = failure == asio::error::eof;
  return {errc::peer_unavailable, orderly ? "the peer closed the connection" : failure.message()};
}

/// The kernel knows which user of the host is at the other end of a unix:// connection.
std::optional<std::chrono::microseconds> connection::round_trip() const {
  tcp_info measured{};
  socklen_t size = sizeof measured;
  // The socket is only looked at; asio's interface does not say so.
  const auto fd = const_cast<stream_protocol::socket&>(socket_).native_handle();
  if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &measured, &size) != 0)
    return {};
  return std::chrono::microseconds{measured.tcpi_rtt};
}

peer_identity connection::identity() const {
  error_code failure;
  if (socket_.local_endpoint(failure).protocol().family() != AF_UNIX || failure)
    return {};
  const int fd = const_cast<stream_protocol::socket&>(socket_).native_handle();
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return {};
  return {.user = name_of(who.uid), .uid = std::to_string(who.uid)};
}

network_info connection::remote() const {
  error_code failure;
  const auto found = socket_.remote_endpoint(failure);
  if (failure)
    return {};
  if (found.protocol().family() == AF_UNIX)
    return {path_of(found).empty() ? path_of(socket_.local_endpoint(failure)) : path_of(found), 0};
  tcp::endpoint end;
  end.resize(found.size());
  std::memcpy(end.data(), found.data(), found.size());
  auto where = end.address();
  if (where.is_v6() && where.to_v6().is_v4_mapped())
    where = asio::ip::make_address_v4(asio::ip::v4_mapped, where.to_v6());
  return {where.to_string(), end.port()};
}

} // namespace pubsub
