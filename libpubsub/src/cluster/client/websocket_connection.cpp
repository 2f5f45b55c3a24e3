// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/client/websocket_connection.hpp"

#include "base/printable.hpp"
#include "cluster/client/byte_stream.hpp"
#include "cluster/tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace pubsub::cluster {

namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;

constexpr std::size_t max_shown_bytes = 200; // of what a server says, in a sentence of ours
constexpr int checks_per_silence = 3;

std::string shown(std::string_view text) {
  return printable(text.substr(0, max_shown_bytes));
}

std::string in_seconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

} // namespace

/// Kept alive by what it waits for.
class websocket_connection::life : public std::enable_shared_from_this<life> {
public:
  life(const websocket_place& place, std::vector<std::string> prefixes, connection_events events)
      : place_(place), prefixes_(std::move(prefixes)), events_(std::move(events)),
        resolver_(place.loop.get_executor()), timer_(place.loop.get_executor()),
        stream_(place.loop.get_executor()) {
    bytes().on_flushed = [this](std::uint64_t n) { flushed(n); };
    stream_.binary(true);
    stream_.auto_fragment(false);
    stream_.write_buffer_bytes(write_buffer_bytes);
    stream_.read_message_max(tuning::max_frame_bytes);
    stream_.set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
      request.set(beast::http::field::user_agent, "libpubsub");
      request.set(application_name_header_, place_.options.application);
      if (!place_.options.token.empty())
        request.set(beast::http::field::authorization, "Bearer " + place_.options.token);
    }));
  }

private:
  /// Calls `next` unless all is over.
  template <class Next>
  auto with_self(Next next) {
    return [self = shared_from_this(), next = std::move(next)](auto&&... results) mutable {
      if (!self->ended_)
        next(std::forward<decltype(results)>(results)...);
    };
  }

public:
  void begin() {
    bytes().belongs_to(weak_from_this());
    timer_.expires_after(place_.options.timeout);
    wait([this] { give_up(); });
    resolver_.async_resolve(place_.url.host, std::to_string(place_.url.port),
                            with_self([this](const error_code& failed, const auto& found) {
                              if (failed)
                                return end("the name " + place_.url.host +
                                           " has no address: " + failed.message());
                              connect(found);
                            }));
  }

  void send(std::string_view message) {
    error_code failed;
    stream_.write(asio::buffer(message), failed);
    if (failed)
      add(place_.counts.unsent); // the end is on its way
    else
      bytes().note_message();
  }

  byte_stream& bytes() noexcept { return stream_.next_layer(); }

  /// Beast's own way to close would throw away what is under way here.
  void close() {
    if (ended_)
      return;
    bytes().say_goodbye();
    receive();
  }

  void receive() {
    if (std::exchange(receives_, true) || ended_)
      return;
    receives_since_ = byte_stream::clock::now();
    watch();
    read();
  }

  /// There are no events any more.
  void cut() {
    if (std::exchange(ended_, true))
      return;
    add(place_.counts.unsent, bytes().waiting_messages());
    resolver_.cancel();
    timer_.cancel();
    bytes().close();
  }

private:
  void wait(std::function<void()> next) {
    timer_.async_wait(with_self([next = std::move(next)](const error_code& cancelled) {
      if (!cancelled)
        next();
    }));
  }

  void give_up() { end("no answer within " + in_seconds(place_.options.timeout) + " " + stage_); }

  // -- the beginning -----------------------------------------------------------------------------

  void connect(const asio::ip::tcp::resolver::results_type& addresses) {
    stage_ = "to the connection";
    asio::async_connect(socket(), addresses,
                        with_self([this](const error_code& failed, const auto&) {
                          if (failed)
                            return end("no connection: " + failed.message());
                          error_code ignored;
                          socket().set_option(asio::ip::tcp::no_delay{true}, ignored);
                          if (place_.tls != nullptr)
                            encrypt();
                          else
                            upgrade();
                        }));
  }

  void encrypt() {
    stage_ = "to the TLS handshake";
    auto& tls = bytes().encrypt(*place_.tls);
    error_code no_address;
    asio::ip::make_address(place_.url.host, no_address);
    if (no_address) // names only (RFC 6066, 3)
      SSL_set_tlsext_host_name(tls.native_handle(), place_.url.host.c_str());
    tls.set_verify_callback(asio::ssl::host_name_verification(place_.url.host));
    tls.async_handshake(asio::ssl::stream_base::client, with_self([this](const error_code& failed) {
                          if (!failed)
                            return upgrade();
                          const auto verified = SSL_get_verify_result(bytes().tls());
                          end(verified == X509_V_OK
                                  ? "TLS failed: " + failed.message()
                                  : std::string{"the certificate of the server is not accepted: "} +
                                        X509_verify_cert_error_string(verified));
                        }));
  }

  void upgrade() {
    stage_ = "to the HTTP request";
    stream_.async_handshake(
        answer_, place_.url.host_and_port(), place_.url.path,
        with_self([this](const error_code& failed) {
          if (failed == websocket::error::upgrade_declined)
            return end("the server refuses: HTTP " + std::to_string(answer_.result_int()) + " " +
                       shown({answer_.reason().data(), answer_.reason().size()}));
          if (failed)
            return end("no WebSocket server: " + failed.message());
          subscribe();
        }));
  }

  void subscribe() {
    stage_ = "to the subscriptions";
    const auto message = subscriptions_message(prefixes_);
    error_code failed;
    stream_.write(asio::buffer(message), failed);
    bytes().flush();
    read();
  }

  // -- messages ----------------------------------------------------------------------------------

  void read() {
    stream_.async_read(
        buffer_, with_self([this](const error_code& failed, std::size_t) {
          if (failed)
            return end(why_closed(failed));
          const auto bytes = buffer_.cdata();
          const std::string_view message{static_cast<const char*>(bytes.data()), bytes.size()};
          if (!open_)
            return read_answer(message);
          events_.received(message);
          read_next();
        }));
  }

  void read_next() {
    if (ended_)
      return;
    buffer_.clear();
    read();
  }

  void read_answer(std::string_view message) {
    const auto read = read_server_message(message);
    if (!read)
      return end("the server answers with something else than an ack: " + shown(message));
    if (const auto* const wrong = std::get_if<websocket_error>(&*read)) {
      add(place_.counts.errors);
      return end("the server refuses: " + shown(wrong->code + ": " + wrong->context));
    }
    if (const auto* const ack = std::get_if<websocket_ack>(&*read)) {
      open_ = true;
      timer_.cancel();
      buffer_.clear();
      return events_.opened(*ack);
    }
    read_next(); // an event may come before, and is none for us yet
  }

  void flushed(std::uint64_t n) {
    if (ended_)
      return;
    add(place_.counts.events_sent, n);
    if (open_)
      events_.room();
  }

  // -- the end -----------------------------------------------------------------------------------

  /// Asks a server that says nothing, and notices where it is gone.
  void watch() {
    const auto longest = place_.options.liveness_timeout;
    timer_.cancel();
    if (longest == std::chrono::nanoseconds::zero())
      return;
    const auto silence = byte_stream::clock::now() - std::max(bytes().last_read(), receives_since_);
    if (silence >= longest)
      return end("the server has said nothing for " + in_seconds(longest));
    const auto interval = longest / checks_per_silence;
    if (silence >= interval && !asking_) {
      asking_ = true;
      stream_.async_ping({}, with_self([this](const error_code&) { asking_ = false; }));
    }
    timer_.expires_after(std::chrono::duration_cast<timer::duration>(interval));
    wait([this] { watch(); });
  }

  std::string why_closed(const error_code& failed) const {
    if (failed != websocket::error::closed)
      return "the connection was lost: " + failed.message();
    const auto& reason = stream_.reason();
    return "the server has closed the connection" +
           (reason.code == websocket::close_code::none
                ? std::string{}
                : " with code " + std::to_string(reason.code) +
                      (reason.reason.empty()
                           ? std::string{}
                           : ": " + shown({reason.reason.data(), reason.reason.size()})));
  }

  void end(std::string why) {
    if (ended_)
      return;
    cut();
    events_.ended(std::move(why));
  }

  tcp_socket& socket() noexcept { return bytes().socket(); }

  static constexpr std::size_t write_buffer_bytes = 64 * 1024;
  static constexpr beast::string_view application_name_header_{application_name_header.data(),
                                                               application_name_header.size()};

  const websocket_place& place_;
  const std::vector<std::string> prefixes_;
  connection_events events_;

  asio::ip::basic_resolver<asio::ip::tcp, executor> resolver_;
  timer timer_;
  websocket::stream<byte_stream, false> stream_;
  websocket::response_type answer_;
  beast::flat_buffer buffer_;

  const char* stage_ = "to the question for its address"; // what has been asked
  bool open_ = false;
  bool receives_ = false;
  byte_stream::clock::time_point receives_since_{};
  bool asking_ = false;
  bool ended_ = false;
};

websocket_connection::websocket_connection(const websocket_place& place,
                                           std::vector<std::string> prefixes,
                                           connection_events events)
    : life_(std::make_shared<life>(place, std::move(prefixes), std::move(events))) {
  life_->begin();
}

websocket_connection::~websocket_connection() {
  life_->cut();
}

void websocket_connection::receive() {
  life_->receive();
}

void websocket_connection::send(std::string_view message) {
  life_->send(message);
}

void websocket_connection::flush() {
  life_->bytes().flush();
}

std::size_t websocket_connection::waiting_bytes() const noexcept {
  return life_->bytes().waiting_bytes();
}

void websocket_connection::close() {
  life_->close();
}

} // namespace pubsub::cluster
