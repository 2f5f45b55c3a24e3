// Boost.Asio as this room uses it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace pubsub {

namespace asio = boost::asio;
using asio::ip::tcp;
/// Sockets and addresses of TCP, or of the host itself (`unix://`).
using stream_protocol = asio::generic::stream_protocol;
using boost::system::error_code;

} // namespace pubsub
