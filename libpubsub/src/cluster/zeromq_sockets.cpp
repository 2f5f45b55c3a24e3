// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/zeromq_sockets.hpp"

#include "cluster/tuning.hpp"

namespace pubsub::cluster {

namespace {

int milliseconds(std::chrono::nanoseconds x) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(x).count());
}

/// What both connections to the proxy have in common.
void set_up(zmq::socket_t& socket, const zeromq_options& options, const std::string& address) {
  namespace option = zmq::sockopt;
  socket.set(option::linger, 0); // what waits is lost with the connection, and counted
  socket.set(option::ipv6, address.find('[') != std::string::npos);
  socket.set(option::reconnect_ivl, milliseconds(tuning::first_reconnect_interval));
  socket.set(option::reconnect_ivl_max, milliseconds(tuning::last_reconnect_interval));
  socket.set(option::maxmsgsize, static_cast<std::int64_t>(tuning::max_frame_bytes));
  if (const auto silence = milliseconds(options.liveness_timeout); silence > 0) {
    socket.set(option::heartbeat_ivl, silence / 4);
    socket.set(option::heartbeat_timeout, silence);
  }
  if (const auto& keys = options.curve) {
    socket.set(option::curve_serverkey, keys->server_public);
    socket.set(option::curve_publickey, keys->client_public);
    socket.set(option::curve_secretkey, keys->client_secret);
  }
}

} // namespace

zeromq_sockets::zeromq_sockets(const zeromq_options& options)
    : publishing_(context_, zmq::socket_type::xpub), subscribing_(context_, zmq::socket_type::sub),
      publishing_events_(context_, publishing_, "publishing"),
      subscribing_events_(context_, subscribing_, "subscribing") {
  namespace option = zmq::sockopt;
  set_up(publishing_, options, options.publish_to);
  publishing_.set(option::sndhwm, tuning::send_high_water_mark);
  publishing_.set(option::xpub_nodrop, true); // where it is full, it says so
  publishing_.set(option::xpub_verbose, true);
  set_up(subscribing_, options, options.subscribe_at);
  subscribing_.set(option::rcvhwm, tuning::receive_high_water_mark);
  if (options.logs_at) {
    logs_.emplace(context_, zmq::socket_type::pull);
    logs_->set(option::linger, 0);
    logs_->set(option::ipv6, options.logs_at->find('[') != std::string::npos);
    logs_->set(option::maxmsgsize, static_cast<std::int64_t>(tuning::max_frame_bytes));
    if (options.curve)
      admission_.emplace(context_, *options.curve).serve(*logs_);
    logs_->bind(*options.logs_at);
  }
  if (!options.logs_to.empty()) {
    loggers_.emplace(context_, zmq::socket_type::push);
    set_up(*loggers_, options, options.logs_to.front());
    loggers_->set(option::linger, milliseconds(tuning::time_for_last_logs));
    loggers_->set(option::sndhwm, tuning::log_high_water_mark);
    loggers_->set(option::immediate, true); // one that is away gets none
    for (const auto& each : options.logs_to)
      loggers_->connect(each);
  }
  publishing_.connect(options.publish_to);
  subscribing_.connect(options.subscribe_at);
}

} // namespace pubsub::cluster
