#include "transport/tls_connection.hpp"

#include "transport/tls_stream.hpp"

namespace pubsub {

namespace {

class tls_connection final : public connection {
public:
  explicit tls_connection(std::shared_ptr<tls_stream> stream) : stream_(std::move(stream)) {}
  ~tls_connection() override { stream_->close(); }

  void read_some(asio::mutable_buffer into, handler on_done) override {
    stream_->read_some(into, std::move(on_done));
  }
  std::size_t try_write(std::span<const asio::const_buffer> from) noexcept override {
    return stream_->try_write(from);
  }
  void write_some(std::span<const asio::const_buffer> from, handler on_done) override {
    stream_->write_some(from, std::move(on_done));
  }
  void close() noexcept override { stream_->close(); }
  error explain(const error_code& failure) const override {
    return stream_->failure() ? stream_->failure() : connection::explain(failure);
  }
  bool encrypted() const noexcept override { return true; }
  network_info remote() const override { return stream_->remote(); }
  const std::shared_ptr<asio::io_context>& loop() const noexcept override {
    return stream_->loop();
  }

private:
  const std::shared_ptr<tls_stream> stream_;
};

} // namespace

std::unique_ptr<connection> make_tls_connection(std::shared_ptr<asio::io_context> loop,
                                                tcp::socket socket,
                                                std::shared_ptr<const tls_context> context,
                                                tls_role role, std::vector<std::byte> refusal) {
  return std::make_unique<tls_connection>(std::make_shared<tls_stream>(
      std::move(loop), std::move(socket), std::move(context), role, std::move(refusal)));
}

} // namespace pubsub
