// SPDX-License-Identifier: BSD-3-Clause
#include "metrics/http_server.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/log.hpp"

namespace pubsub {

namespace {

constexpr std::chrono::seconds time_between_events{1};
constexpr std::chrono::milliseconds time_between_tries{100};
constexpr std::chrono::seconds time_to_discard{2};
constexpr std::chrono::seconds patience_with_nodes{3};
constexpr std::size_t max_asking = 16;
constexpr std::size_t max_askers = 2;

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};

error bad_address(std::string_view text, std::string_view why) {
  return {errc::invalid_argument,
          "'" + std::string{text} + "': " + std::string{why} + " (expected HOST:PORT)"};
}

expected<host_and_port> split(std::string_view text) {
  auto rest = text;
  if (rest.starts_with("http://")) { // as this server's address is shown
    rest.remove_prefix(7);
    rest.remove_suffix(rest.ends_with('/') ? 1 : 0);
  }
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos)
    return bad_address(text, "no port");
  host_and_port result;
  const auto digits = rest.substr(colon + 1);
  const auto* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, result.port);
  if (digits.empty() || failure != std::errc{} || stop != end)
    return bad_address(text, "the port is not a number from 0 to 65535");
  auto host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find_first_of(":/[]") != std::string_view::npos)
    return bad_address(text, "not a host name; an IPv6 address needs brackets");
  result.host = host == "*" ? "" : std::string{host};
  return result;
}

void append_event(std::string& to, std::string_view name, const std::string& json) {
  to.append("event: ").append(name).append("\ndata: ").append(json).append("\n\n");
}

} // namespace

expected<void> http_server::listen(std::string_view address) {
  const auto where = split(address);
  if (!where)
    return where.error();
  error_code failure;
  if (where->host.empty()) {
    failure = bind_to({tcp::v6(), where->port}, true);
    if (failure == asio::error::address_family_not_supported) // a host without IPv6
      failure = bind_to({tcp::v4(), where->port}, false);
  } else {
    tcp::resolver resolver{acceptor_.get_executor()};
    const auto found =
        resolver.resolve(where->host, std::to_string(where->port), tcp::resolver::passive, failure);
    if (!failure)
      failure = bind_to(found.begin()->endpoint(), false);
  }
  if (failure)
    return error{failure == asio::error::address_in_use ? errc::address_in_use
                                                        : errc::cannot_listen,
                 std::string{address} + ": " + failure.message()};
  accept();
  return {};
}

error_code http_server::bind_to(const tcp::endpoint& local, bool any_host) {
  error_code failure;
  error_code ignored;
  acceptor_.close(ignored);
  acceptor_.open(local.protocol(), failure);
  if (!failure && any_host)
    acceptor_.set_option(asio::ip::v6_only{false}, ignored);
  if (!failure)
    acceptor_.set_option(asio::socket_base::reuse_address{true}, failure);
  if (!failure)
    acceptor_.bind(local, failure);
  if (!failure)
    acceptor_.listen(asio::socket_base::max_listen_connections, failure);
  if (!failure)
    port_ = acceptor_.local_endpoint(failure).port();
  loopback_ = local.address().is_loopback();
  return failure;
}

bool http_server::is_our_name(std::string_view host) const {
  if (!loopback_ || host == "localhost" || host.starts_with('['))
    return true;
  error_code no_address;
  asio::ip::make_address_v4(std::string{host}, no_address);
  return !no_address;
}

void http_server::accept() {
  acceptor_.async_accept([this](error_code failure, tcp::socket socket) {
    if (!failure) {
      accept();
      return add(std::move(socket));
    }
    if (failure == asio::error::operation_aborted)
      return;
    // As when the process is out of descriptors: at once it would fail at once, for ever.
    log(log_level::warning, "accepting a connection for metrics failed: " + failure.message());
    retry_.expires_after(time_between_tries);
    retry_.async_wait([this](error_code cancelled) {
      if (!cancelled)
        accept();
    });
  });
}

void http_server::add(tcp::socket socket) {
  if (connections_.size() >= options_.max_connections) {
    std::vector<connection> idle;
    std::ranges::copy_if(connections_, std::back_inserter(idle), [](const auto& each) {
      return each->state() == http_connection::phase::reading ||
             each->state() == http_connection::phase::discarding;
    });
    if (idle.empty())
      return; // the new one is closed
    (*std::ranges::min_element(idle, {}, &http_connection::since))->close();
  }
  const auto fresh = std::make_shared<http_connection>(std::move(socket), *this);
  connections_.insert(fresh);
  start_ticking();
  fresh->read();
}

bool http_server::ask(const endpoint_id& node, const connection& who) {
  if (asking_ >= max_asking)
    return false;
  ++asking_;
  asio::post(to_ask_, [this, node, who] {
    const auto text = endpoint_->status_of(node, patience_with_nodes);
    const auto late = text ? false : text.error() == errc::request_timeout;
    answer told = text ? answer{200, "application/json", std::make_shared<const std::string>(*text)}
                       : answer{late ? 504U : 502U, plain_text,
                                std::make_shared<const std::string>(text.error().message() + "\n")};
    asio::post(acceptor_.get_executor(), [this, who, told = std::move(told)] {
      --asking_;
      who->tell(told);
    });
  });
  while (askers_.size() < max_askers)
    askers_.emplace_back([this] {
      const auto keeps_going = asio::make_work_guard(to_ask_);
      to_ask_.run();
    });
  return true;
}

bool http_server::watch(const connection& who) {
  if (watchers_.size() >= options_.max_watchers)
    return false;
  watchers_.insert(who);
  fresh_.insert(who);
  // The first events at once, behind the head of the answer.
  asio::post(acceptor_.get_executor(), [this] { send_events(); });
  return true;
}

void http_server::forget(const connection& who) {
  watchers_.erase(who);
  fresh_.erase(who);
  connections_.erase(who);
}

void http_server::start_ticking() {
  if (std::exchange(ticking_, true))
    return;
  tick_.expires_after(time_between_events);
  tick_.async_wait([this](error_code cancelled) {
    ticking_ = false;
    if (!cancelled)
      on_tick();
  });
}

void http_server::on_tick() {
  if (!connections_.empty())
    start_ticking(); // first: whatever goes wrong below, it goes on
  cut_late();
  send_events();
}

void http_server::cut_late() {
  const auto now = http_connection::clock::now();
  for (const auto& each : std::vector(connections_.begin(), connections_.end())) {
    const auto allowed = each->state() == http_connection::phase::discarding
                             ? std::chrono::nanoseconds{time_to_discard}
                             : options_.request_timeout;
    if (!each->up_to_date() && now - each->since() > allowed)
      each->close();
  }
}

/// To each watcher that has taken what it was sent before.
void http_server::send_events() {
  if (watchers_.empty())
    return;
  std::string news;
  append_event(news, "status", *answers_.status());
  append_event(news, "ready", *answers_.readiness());
  std::string all = news;
  const auto network = answers_.network();
  append_event(all, "network", *network);
  const bool changed = !last_network_ || *last_network_ != *network;
  last_network_ = network;
  const auto short_text = std::make_shared<const std::string>(std::move(news));
  const auto long_text = std::make_shared<const std::string>(std::move(all));
  for (const auto& each : std::vector(watchers_.begin(), watchers_.end())) {
    if (changed)
      fresh_.insert(each); // has not seen the network as it is
    if (each->up_to_date())
      each->send_event(fresh_.erase(each) > 0 ? long_text : short_text);
  }
}

} // namespace pubsub
