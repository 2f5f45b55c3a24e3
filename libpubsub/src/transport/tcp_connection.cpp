#include "transport/connection.hpp"

#include <algorithm>
#include <array>

#include <sys/socket.h>
#include <sys/uio.h>

namespace pubsub {

namespace {

/// A view as the buffer sequence Asio wants.
struct buffer_sequence {
  std::span<const asio::const_buffer> buffers;
  using value_type = asio::const_buffer;
  using const_iterator = const asio::const_buffer*;
  const_iterator begin() const { return buffers.data(); }
  const_iterator end() const { return buffers.data() + buffers.size(); }
};

class tcp_connection final : public connection {
public:
  tcp_connection(std::shared_ptr<asio::io_context> loop, tcp::socket socket)
      : connection(std::move(loop), std::move(socket)) {}

  void read_some(asio::mutable_buffer into, handler on_done) override {
    socket_.async_read_some(into, std::move(on_done));
  }
  std::size_t try_write(std::span<const asio::const_buffer> from) noexcept override {
    std::array<iovec, 64> parts;
    const auto n = std::min(from.size(), parts.size());
    for (std::size_t i = 0; i < n; ++i)
      parts[i] = {const_cast<void*>(from[i].data()), from[i].size()};
    msghdr what{};
    what.msg_iov = parts.data();
    what.msg_iovlen = n;
    const auto written = ::sendmsg(fd_, &what, MSG_DONTWAIT | MSG_NOSIGNAL);
    return written < 0 ? 0 : static_cast<std::size_t>(written);
  }
  void write_some(std::span<const asio::const_buffer> from, handler on_done) override {
    socket_.async_write_some(buffer_sequence{from}, std::move(on_done));
  }
  bool encrypted() const noexcept override { return false; }

private:
  const int fd_ = socket_.native_handle();
};

} // namespace

connection::connection(std::shared_ptr<asio::io_context> loop, tcp::socket socket)
    : loop_(std::move(loop)), socket_(std::move(socket)) {
  error_code ignored; // both only make things faster
  socket_.set_option(tcp::no_delay{true}, ignored);
  socket_.non_blocking(true, ignored);
}

void connection::close() noexcept {
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

error connection::explain(const error_code& failure) const {
  const bool orderly = failure == asio::error::eof;
  return {errc::peer_unavailable, orderly ? "the peer closed the connection" : failure.message()};
}

network_info connection::remote() const {
  error_code failure;
  const auto end = socket_.remote_endpoint(failure);
  if (failure)
    return {};
  auto where = end.address();
  if (where.is_v6() && where.to_v6().is_v4_mapped())
    where = asio::ip::make_address_v4(asio::ip::v4_mapped, where.to_v6());
  return {where.to_string(), end.port()};
}

std::shared_ptr<connection> make_tcp_connection(std::shared_ptr<asio::io_context> loop,
                                                tcp::socket socket) {
  return std::make_shared<tcp_connection>(std::move(loop), std::move(socket));
}

} // namespace pubsub
