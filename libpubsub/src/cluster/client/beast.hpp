// Boost.Asio and Boost.Beast as this room uses them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

namespace pubsub::cluster {

namespace asio = boost::asio;
using boost::system::error_code;

/// All runs on one thread, so no handler needs more.
using executor = asio::io_context::executor_type;
using tcp_socket = asio::basic_stream_socket<asio::ip::tcp, executor>;
using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, executor>;

} // namespace pubsub::cluster
