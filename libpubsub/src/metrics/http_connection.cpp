// SPDX-License-Identifier: BSD-3-Clause
#include "metrics/http_connection.hpp"

namespace pubsub {

namespace {

std::string_view view(boost::beast::string_view x) {
  return {x.data(), x.size()};
}

/// `host:port`, `[v6]:port` or either without a port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('['))
    return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

std::string head_of(const answer& what, std::string_view more) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(what.status));
  std::string result = "HTTP/1.1 " + std::to_string(what.status) + " ";
  result.append(reason.data(), reason.size());
  result.append("\r\nContent-Type: ").append(what.content_type);
  // The page needs nothing but what it consists of and what this server answers; nobody may show it
  // within another page.
  result.append("\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; "
                "style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
                "form-action 'none'; frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\n");
  return result.append(more).append("\r\n");
}

} // namespace

void http_connection::enter(phase next) {
  state_ = next;
  since_ = clock::now();
}

void http_connection::read() {
  enter(phase::reading);
  parser_.emplace();
  parser_->header_limit(max_request_bytes / 2);
  http::async_read_header(
      socket_, buffer_, *parser_,
      [self = shared_from_this()](error_code failure, std::size_t) { self->on_request(failure); });
}

void http_connection::on_request(error_code failure) {
  if (state_ == phase::closed)
    return;
  if (failure == http::error::header_limit || failure == http::error::buffer_overflow)
    return refuse(431, "The header of the request is too long.");
  if (!failure)
    return reply();
  // Errors of reading are not errors of the request.
  if (failure.category() == make_error_code(http::error::bad_method).category() &&
      failure != http::error::end_of_stream && failure != http::error::partial_message)
    return refuse(400, "This is not a request of HTTP/1.1.");
  close();
}

void http_connection::reply() {
  const auto& request = parser_->get();
  keep_ = request.keep_alive();
  head_only_ = request.method() == http::verb::head;
  if (!head_only_ && request.method() != http::verb::get)
    return refuse(405, "There is nothing to change here: only GET and HEAD are answered.");
  if (parser_->chunked() || parser_->content_length().value_or(0) > 0)
    return refuse(400, "A request to read has no body.");
  const auto host = request.find(http::field::host);
  if (host != request.end() && !host_.is_our_name(without_port(view(host->value()))))
    return refuse(421, "This server is reached as localhost or by an address, under no other "
                       "name, because it listens on a loopback address.");
  const auto target = view(request.target());
  const auto path = target.substr(0, target.find('?'));
  if (path == "/events")
    return begin_watching();
  constexpr std::string_view of_node = "/status?node=";
  if (target.starts_with(of_node))
    return ask(target.substr(of_node.size()));
  if (const auto found = host_.find(path))
    return answer_with(*found);
  answer_with({404, plain_text,
               std::make_shared<const std::string>("There are / /metrics /healthz /readyz /status "
                                                   "/network /events here.\n")});
}

void http_connection::ask(std::string_view id) {
  const auto node = endpoint_id::parse(id);
  if (!node)
    return refuse(400, "The status of another node is at /status?node=ID, with its id.");
  enter(phase::asking);
  if (!host_.ask(*node, shared_from_this()))
    answer_with({503, plain_text,
                 std::make_shared<const std::string>("Too many ask for other nodes already.\n")});
}

void http_connection::answer_with(const answer& what) {
  head_ = head_of(what, std::string{keep_ ? "" : "Connection: close\r\n"} +
                            (what.status == 405 ? "Allow: GET, HEAD\r\n" : "") +
                            "Content-Length: " + std::to_string(what.body->size()) + "\r\n");
  enter(phase::writing);
  static const auto nothing = std::make_shared<const std::string>();
  write(head_only_ ? nothing : what.body);
}

/// What comes behind the request is not understood: the connection ends with the answer.
void http_connection::refuse(unsigned status, std::string_view sentence) {
  keep_ = false;
  answer_with(
      {status, plain_text, std::make_shared<const std::string>(std::string{sentence} + "\n")});
}

void http_connection::write(shared_text body) {
  pending_ = std::move(body);
  const std::array<asio::const_buffer, 2> both{asio::buffer(head_), asio::buffer(*pending_)};
  asio::async_write(socket_, both, [self = shared_from_this()](error_code failure, std::size_t) {
    self->on_written(failure);
  });
}

void http_connection::on_written(error_code failure) {
  pending_.reset();
  head_.clear();
  if (state_ == phase::closed)
    return;
  if (failure)
    close();
  else if (state_ == phase::writing)
    keep_ ? read() : discard();
}

void http_connection::begin_watching() {
  keep_ = false;
  if (head_only_ || !host_.watch(shared_from_this()))
    return answer_with(
        head_only_
            ? answer{200, "text/event-stream", std::make_shared<std::string>()}
            : answer{503, plain_text,
                     std::make_shared<const std::string>("Too many are watching already.\n")});
  enter(phase::watching);
  head_ = head_of({200, "text/event-stream", nullptr}, "Connection: close\r\n");
  // Whatever comes, or the end, ends the connection: a watcher has nothing more to say.
  socket_.async_read_some(asio::buffer(discarded_),
                          [self = shared_from_this()](error_code, std::size_t) { self->close(); });
}

void http_connection::send_event(const shared_text& text) {
  if (!up_to_date())
    return;
  since_ = clock::now();
  write(text);
}

void http_connection::discard() {
  if (state_ != phase::discarding) {
    enter(phase::discarding);
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  socket_.async_read_some(
      asio::buffer(discarded_), [self = shared_from_this()](error_code failure, std::size_t n) {
        if (self->state_ == phase::closed)
          return;
        self->discarded_bytes_ += n;
        failure || self->discarded_bytes_ > max_discarded_bytes ? self->close() : self->discard();
      });
}

void http_connection::close() {
  if (state_ == phase::closed)
    return;
  enter(phase::closed);
  error_code ignored;
  socket_.close(ignored);
  host_.forget(shared_from_this());
}

} // namespace pubsub
