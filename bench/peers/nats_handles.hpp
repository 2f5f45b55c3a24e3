// NATS for peers: its C client, closed when it goes; and servers, each but the last a leaf node of
// the next.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/find_program.hpp"
#include "support/tcp.hpp"

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <nats/nats.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench {

inline constexpr int nats_buffer_bytes = 1 << 20;
// To connect: for ten seconds.
inline constexpr int most_tries = 500;
inline constexpr int between_tries_ms = 20;

inline void check(natsStatus status, const char* call) {
  if (status != NATS_OK)
    throw std::runtime_error(std::string{call} + ": " + natsStatus_GetText(status));
}

class nats_client {
public:
  // A server that has just been started may not listen yet.
  explicit nats_client(int port) {
    check(natsOptions_Create(&options_), "natsOptions_Create");
    auto url = "nats://127.0.0.1:" + std::to_string(port);
    check(natsOptions_SetURL(options_, url.c_str()), "natsOptions_SetURL");
    check(natsOptions_SetIOBufSize(options_, nats_buffer_bytes), "natsOptions_SetIOBufSize");
    check(natsOptions_SetRetryOnFailedConnect(options_, true, nullptr, nullptr),
          "natsOptions_SetRetryOnFailedConnect");
    check(natsOptions_SetMaxReconnect(options_, most_tries), "natsOptions_SetMaxReconnect");
    check(natsOptions_SetReconnectWait(options_, between_tries_ms), "natsOptions_SetReconnectWait");
    check(natsOptions_SetReconnectJitter(options_, 0, 0), "natsOptions_SetReconnectJitter");
    check(natsConnection_Connect(&connection_, options_), "natsConnection_Connect");
  }
  nats_client(const nats_client&) = delete;
  nats_client& operator=(const nats_client&) = delete;
  ~nats_client() {
    natsConnection_Destroy(connection_);
    natsOptions_Destroy(options_);
  }
  natsConnection* get() const noexcept { return connection_; }

private:
  natsOptions* options_ = nullptr;
  natsConnection* connection_ = nullptr;
};

struct server_ports {
  int clients;
  int leaf_nodes;
};

/// Free a moment ago; all are held at once, so that no two are the same.
inline std::vector<server_ports> pick_ports(unsigned servers) {
  std::vector<tcp_listener> held(2 * servers);
  std::vector<server_ports> ports;
  for (unsigned i = 0; i < servers; ++i)
    ports.push_back({held[2 * i].port(), held[2 * i + 1].port()});
  return ports;
}

/// The relays of a run: the first is the subscriber's, the last the publisher's server.
class server_chain {
public:
  explicit server_chain(std::string program, unsigned servers)
      : program_(std::move(program)), ports_(pick_ports(servers)) {}

  int subscriber_port() const { return ports_.front().clients; }
  int publisher_port() const { return ports_.back().clients; }

  /// Becomes the server.
  [[noreturn]] void become(unsigned stage) const {
    auto file = "/proc/self/fd/" + std::to_string(write_to_memory(config(stage)));
    ::execl(program_.c_str(), "nats-server", "-c", file.c_str(), static_cast<char*>(nullptr));
    throw std::runtime_error("cannot start " + program_);
  }

private:
  std::string config(unsigned stage) const {
    const auto& own = ports_[stage - 1];
    std::ostringstream out;
    out << "listen: \"127.0.0.1:" << own.clients << "\"\n"
        << "server_name: relay" << stage << "\n"
        << "log_file: \"/dev/null\"\n"
        << "max_pending: 1GB\n"
        << "leafnodes {\n  listen: \"127.0.0.1:" << own.leaf_nodes << "\"\n";
    if (stage > 1)
      out << "  remotes: [{url: \"nats-leaf://127.0.0.1:" << ports_[stage - 2].leaf_nodes
          << "\"}]\n";
    out << "}\n";
    return out.str();
  }

  // A file that is gone with the process, however that ends.
  static int write_to_memory(const std::string& text) {
    auto fd = ::memfd_create("nats-server.conf", 0);
    if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::system_error(errno, std::generic_category(), "memfd_create");
    return fd;
  }

  std::string program_;
  std::vector<server_ports> ports_;
};

} // namespace bench
