// One connection of a browser, a probe or Prometheus.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/answers.hpp"
#include "metrics/beast.hpp"

namespace pubsub {

class http_connection;

/// What connections have in common; outlives them. One thread.
class http_host {
public:
  virtual ~http_host() = default;
  /// As `answers::find`.
  virtual std::optional<answer> find(std::string_view path) = 0;
  /// Whether a request may name this host: one that resolves to us although it is none of our names
  /// belongs to a page of somebody else.
  virtual bool is_our_name(std::string_view host) const = 0;
  /// The connection will be told (`http_connection::tell`) how another node is. False: too many ask
  /// already.
  virtual bool ask(const endpoint_id& node, const std::shared_ptr<http_connection>& who) = 0;
  /// From now on the connection is sent events, until it is closed. False: there are too many.
  virtual bool watch(const std::shared_ptr<http_connection>& who) = 0;
  /// It is closed. The last call.
  virtual void forget(const std::shared_ptr<http_connection>& who) = 0;
};

/// Reads requests and writes answers, one at a time, until it is closed by either side, or by the
/// host, which looks at `since`. Thread-safety: the thread of its loop.
class http_connection : public std::enable_shared_from_this<http_connection> {
public:
  using clock = std::chrono::steady_clock;
  enum class phase : unsigned char { reading, asking, writing, watching, discarding, closed };

  http_connection(tcp::socket socket, http_host& host) : socket_(std::move(socket)), host_(host) {}

  /// Waits for a request.
  void read();
  /// While asking: this is the answer.
  void tell(const answer& what) {
    if (state_ == phase::asking)
      answer_with(what);
  }
  /// While watching: sends it, unless the last one is still being written.
  void send_event(const shared_text& text);
  void close();

  phase state() const noexcept { return state_; }
  /// When its present phase, or while watching its present event, began.
  clock::time_point since() const noexcept { return since_; }
  /// Watching, and everything sent so far has been taken.
  bool up_to_date() const noexcept { return state_ == phase::watching && !pending_; }

private:
  static constexpr std::size_t max_request_bytes = 16 * 1024;
  // After an error what the other side still sends is read for a moment: closing at once could make
  // the answer disappear.
  static constexpr std::size_t max_discarded_bytes = 1024 * 1024;

  void enter(phase next);
  void on_request(error_code failure);
  void reply();
  void ask(std::string_view id);
  void answer_with(const answer& what);
  void refuse(unsigned status, std::string_view sentence);
  void write(shared_text body);
  void on_written(error_code failure);
  void begin_watching();
  void discard();

  tcp::socket socket_;
  http_host& host_;
  phase state_ = phase::reading;
  clock::time_point since_ = clock::now();
  boost::beast::flat_buffer buffer_{max_request_bytes};
  std::optional<http::request_parser<http::empty_body>> parser_; // anew for each request
  std::string head_;
  shared_text pending_; // being written behind the head
  bool keep_ = false;   // the connection, for another request
  bool head_only_ = false;
  std::array<char, 4096> discarded_{};
  std::size_t discarded_bytes_ = 0;
};

} // namespace pubsub
