// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket/server.hpp"

#include "base/log.hpp"
#include "cluster/websocket/connection.hpp"
#include "cluster/websocket/tuning.hpp"

#include <algorithm>
#include <utility>

#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace pubsub::cluster {

server::server(std::shared_ptr<endpoint> ep, websocket_server_options options, websocket_url where,
               private_folder folder)
    : ep_(std::move(ep)), options_(std::move(options)), where_(std::move(where)),
      folder_(std::move(folder)),
      admission_(options_.access, options_.max_clients,
                 !options_.tls.ca_file.empty() || !options_.tls.ca_path.empty()) {
  for (unsigned i = 0; i < options_.threads; ++i)
    loops_.push_back(std::make_unique<asio::io_context>(1));
}

server::~server() {
  if (acceptor_ && !threads_.empty()) {
    asio::post(*loops_.front(), [this] {
      error_code ignored;
      acceptor_->close(ignored);
      retry_->cancel();
    });
    for_clients([](client& each) { each.close(websocket::close_code::going_away, "Terminating"); });
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, websocket_tuning::goodbye_timeout,
                      [this] { return connections_.empty(); });
  }
  for (auto& each : loops_)
    each->stop();
  for (std::size_t i = 0; i + 1 < threads_.size(); ++i)
    threads_[i].join();
  // Whose loop has ended hands over its node once it is destroyed.
  acceptor_.reset();
  retry_.reset();
  connections_.clear();
  loops_.clear();
  apart_.stop();
  if (!threads_.empty())
    threads_.back().join();
}

// -- start ---------------------------------------------------------------------------------------

expected<void> server::start() {
  if (where_.encrypted)
    if (auto ready = set_tls(options_.tls); !ready)
      return ready;
  // An endpoint that listens is a relay, which its clients need; one that became it with the first
  // of them would part from that one again. Only processes of this user get into the folder.
  if (const auto relays = ep_->listen("unix://" + folder_.path() + "/relay"); !relays)
    return relays.error();
  acceptor_.emplace(*loops_.front());
  retry_.emplace(*loops_.front());
  if (auto listening = listen(); !listening)
    return listening;
  accept();
  try {
    for (auto& each : loops_)
      threads_.emplace_back([this, &loop = *each] { run(loop, "pubsub-ws"); });
    threads_.emplace_back([this] { run(apart_, "pubsub-ws-nodes"); });
  } catch (const std::system_error& none) {
    return error{errc::limit_exceeded, std::string{"no thread for WebSockets: "} + none.what()};
  }
  return {};
}

void server::run(asio::io_context& loop, const char* name) {
  sigset_t all; // signals belong to the host program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), name);
  const auto keeps_going = asio::make_work_guard(loop);
  while (!loop.stopped()) {
    try {
      loop.run();
    } catch (const std::exception& problem) { // as when there is no memory for a message
      log(log_level::error, std::string{"serving WebSockets: "} + problem.what());
    }
  }
}

expected<void> server::listen() {
  error_code failure;
  if (where_.host.empty()) {
    failure = bind_to({tcp::v6(), where_.port}, true);
    if (failure == asio::error::address_family_not_supported) // a host without IPv6
      failure = bind_to({tcp::v4(), where_.port}, false);
  } else {
    tcp::resolver resolver{*loops_.front()};
    const auto found =
        resolver.resolve(where_.host, std::to_string(where_.port), tcp::resolver::passive, failure);
    if (!failure)
      failure = bind_to(found.begin()->endpoint(), false);
  }
  if (failure)
    return error{failure == asio::error::address_in_use ? errc::address_in_use
                                                        : errc::cannot_listen,
                 to_string(where_) + ": " + failure.message()};
  where_.port = acceptor_->local_endpoint(failure).port();
  return {};
}

error_code server::bind_to(const tcp::endpoint& local, bool any_host) {
  error_code failure;
  error_code ignored;
  acceptor_->close(ignored);
  acceptor_->open(local.protocol(), failure);
  if (!failure && any_host)
    acceptor_->set_option(asio::ip::v6_only{false}, ignored);
  if (!failure)
    acceptor_->set_option(asio::socket_base::reuse_address{true}, failure);
  if (!failure)
    acceptor_->bind(local, failure);
  if (!failure)
    acceptor_->listen(asio::socket_base::max_listen_connections, failure);
  return failure;
}

// -- connections ---------------------------------------------------------------------------------

void server::accept() {
  auto& loop = *loops_[next_loop_++ % loops_.size()];
  acceptor_->async_accept(loop, [this, &loop](error_code failure, loop_socket socket) {
    if (!failure) {
      serve(loop, std::move(socket));
      return accept();
    }
    if (failure == asio::error::operation_aborted)
      return;
    // As when the process is out of descriptors: at once it would fail at once, for ever.
    log(log_level::warning, "accepting a WebSocket failed: " + failure.message());
    retry_->expires_after(websocket_tuning::time_between_tries);
    retry_->async_wait([this](error_code cancelled) {
      if (!cancelled)
        accept();
    });
  });
}

void server::serve(asio::io_context& loop, loop_socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay{true}, ignored);
  socket.set_option(asio::socket_base::send_buffer_size{websocket_tuning::send_buffer_bytes},
                    ignored);
  const auto remote = socket.remote_endpoint(ignored);
  std::shared_ptr<client> fresh;
  std::unique_lock lock{mutex_};
  if (connections_.size() >= options_.max_clients + websocket_tuning::spare_connections) {
    add(counts_.refused);
    return; // it is closed
  }
  if (where_.encrypted) {
    SSL_CTX_up_ref(tls_.get());
    asio::ssl::context context{tls_.get()}; // takes over the reference of the line above
    fresh = std::make_shared<connection<encrypted_socket>>(*this, loop, remote, std::move(socket),
                                                           context);
  } else {
    fresh = std::make_shared<connection<plain_socket>>(*this, loop, remote, std::move(socket));
  }
  connections_.insert(fresh);
  lock.unlock();
  asio::post(loop, [fresh] { fresh->start(); });
}

void server::forget(const client& who) {
  admission_.forget(who);
  std::lock_guard lock{mutex_};
  const auto found =
      std::ranges::find_if(connections_, [&](const auto& each) { return each.get() == &who; });
  if (found != connections_.end())
    connections_.erase(found);
  changed_.notify_all();
}

template <class Action>
void server::for_clients(Action action) {
  std::lock_guard lock{mutex_};
  for (const auto& each : connections_)
    asio::post(each->loop(), [each, action] { action(*each); });
}

websocket_ack server::ack() {
  return {.endpoint = to_string(ep_->id()) + "-websocket-" + std::to_string(clients_++),
          .version = "libpubsub-" PUBSUB_VERSION};
}

// -- nodes of clients ----------------------------------------------------------------------------

void server::make_node(std::shared_ptr<client> who, client_node_options how) {
  asio::post(apart_, [this, who = std::move(who), how = std::move(how)]() mutable {
    const auto path = folder_.path() + "/" + std::to_string(nodes_++);
    how.address = "unix://" + path;
    auto made =
        std::make_shared<expected<std::unique_ptr<client_node>>>(client_node::make(*ep_, how));
    auto& loop = who->loop();
    asio::post(loop, [who = std::move(who), made] { who->take_node(std::move(*made)); });
  });
}

void server::destroy_node(std::unique_ptr<client_node> node) {
  asio::post(apart_, [shared = std::shared_ptr<client_node>{std::move(node)}] {
    shared->events.close();
    shared->node.close();
  });
}

// -- what others ask for -------------------------------------------------------------------------

websocket_server_counters server::counters() const {
  auto result = counts_.read();
  result.clients = admission_.clients();
  return result;
}

void server::set_access(std::optional<access_rules> rules) {
  admission_.set_rules(std::move(rules));
  for_clients([](client& each) { each.look_at_rules(); });
}

expected<void> server::set_tls(const tls_options& options) {
  if (!where_.encrypted)
    return error{errc::invalid_argument, to_string(where_) + " does not encrypt"};
  auto made = make_tls_server_context(options);
  if (!made)
    return made.error();
  std::lock_guard lock{mutex_};
  tls_ = std::move(*made);
  return {};
}

} // namespace pubsub::cluster
