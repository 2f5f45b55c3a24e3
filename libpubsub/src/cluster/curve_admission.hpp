// Which clients the servers of a cluster that encrypts admit.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/curve_keys.hpp>

#include "cluster/zeromq_kit.hpp"

#include <zmq.hpp>

namespace pubsub::cluster {

/// Answers libzmq's questions about clients (ZAP): those that have one of the keys may connect.
/// There may be one in a context, which must be there before a server is bound. Not thread-safe.
/// Throws zmq::error_t.
class curve_admission {
public:
  curve_admission(zmq::context_t& context, const curve_keys& keys,
                  const std::vector<std::string>& more_clients = {});

  /// Before it is bound, the socket of a server is told to encrypt and to ask.
  void serve(zmq::socket_t& socket) const;
  /// Readable where there are questions.
  zmq::socket_t& socket() noexcept { return questions_; }
  void answer();

private:
  bool admits(std::span<const std::string_view> question) const;

  std::string secret_;
  std::set<std::string, std::less<>> clients_; // 32 bytes each
  zmq::socket_t questions_;
  frames frames_;
};

} // namespace pubsub::cluster
