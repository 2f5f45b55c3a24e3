// What all members of clusters have in common: a thread, and one session after the other on it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/gateway.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "base/unique_fd.hpp"
#include "cluster/private_folder.hpp"

namespace pubsub::cluster {

/// How a session speaks with the membership it belongs to; called on its thread.
struct session_host {
  int wake_fd = -1;        ///< readable once the session is to end
  std::string address{};   ///< at which the session is to listen for the endpoint
  const endpoint& network; ///< the endpoint
  /// The cluster is reached, and can be peered with.
  std::function<void()> reached;
  /// It is not, and why; or, while it is, what it complains of.
  std::function<void(std::string)> failed;
};

/// One time that a cluster is reached, from the first attempt to the loss.
class session {
public:
  virtual ~session() = default;

  /// Of the node that the cluster is in the network of the endpoint, once it is reached.
  virtual endpoint_id node_id() const = 0;
  /// Returns once the cluster is lost, or the session is to end. True if the cluster was reached.
  /// Throws where it cannot go on.
  virtual bool run() = 0;
};

/// Runs sessions, each a moment after the one before, until it goes.
class membership {
public:
  using session_maker = std::function<expected<std::unique_ptr<session>>(session_host&)>;

  /// `make` is called by `start`, and then on the thread. `link`: of the endpoint, to the cluster.
  membership(std::shared_ptr<endpoint> ep, gateway_host host, private_folder folder,
             peer_options link, session_maker make);
  ~membership();

  /// Errors: those of the first session; limit_exceeded (no file descriptor or thread is left).
  expected<void> start();
  /// Ends the session, and begins no other; what has been counted remains. As the destructor.
  void leave();

  const std::string& address() const noexcept { return host_.address; }
  std::string problem() const;
  bool wait_connected(std::chrono::nanoseconds timeout) const;

private:
  void run();
  bool run_session();
  bool woken_within(std::chrono::milliseconds pause) const;
  void reached();
  void failed(std::string why);

  const std::shared_ptr<endpoint> ep_;
  const gateway_host of_;
  const private_folder folder_;
  peer_options link_;
  const session_maker make_;
  const unique_fd wake_;
  session_host host_;

  mutable std::mutex mutex_; // guards what follows
  mutable std::condition_variable changed_;
  std::optional<endpoint_id> node_; // the cluster's, as a peer; nothing while it is not reached
  std::string problem_ = "the cluster has not answered yet";

  std::unique_ptr<session> session_; // of `thread_`, once that runs
  std::thread thread_;
};

} // namespace pubsub::cluster
