// NATS as a peer: nats-server as relays, each but the last a leaf node of the next, and the C
// client at both ends. A server drops a client that reads too slowly, so no more than a window of
// messages is on its way; the subscriber's client may keep all of them.
#include "support/numbered.hpp"
#include "support/run.hpp"
#include "support/tcp.hpp"

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include <nats/nats.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr std::uint64_t window = 262'144;
constexpr const char* subject = "bench.stream";
constexpr int buffer_bytes = 1 << 20;

void check(natsStatus status, const char* call) {
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
    check(natsOptions_SetIOBufSize(options_, buffer_bytes), "natsOptions_SetIOBufSize");
    auto status = NATS_NO_SERVER;
    for (int i = 0; i < 500 && status != NATS_OK; ++i) {
      status = natsConnection_Connect(&connection_, options_);
      if (status != NATS_OK)
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    check(status, "natsConnection_Connect");
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

// Receives on the client's own thread, its fastest way.
class stream_subscription {
public:
  stream_subscription(const nats_client& client, run_state& state, const run_options& options)
      : sink_(state, options) {
    check(natsConnection_Subscribe(&handle_, client.get(), subject, visit, this), "subscribe");
    check(natsSubscription_SetPendingLimits(handle_, -1, -1), "natsSubscription_SetPendingLimits");
    check(natsConnection_Flush(client.get()), "natsConnection_Flush");
  }
  stream_subscription(const stream_subscription&) = delete;
  stream_subscription& operator=(const stream_subscription&) = delete;
  ~stream_subscription() { natsSubscription_Destroy(handle_); }

private:
  static void visit(natsConnection*, natsSubscription*, natsMsg* message, void* self) {
    static_cast<stream_subscription*>(self)->sink_.take(natsMsg_GetData(message));
    natsMsg_Destroy(message);
  }

  numbered_sink sink_;
  natsSubscription* handle_ = nullptr;
};

// Finds the program as a shell would, and where Debian puts it.
std::string find_server() {
  std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  std::istringstream folders{path + ":/usr/sbin:/usr/local/sbin"};
  for (std::string folder; std::getline(folders, folder, ':');)
    if (auto file = folder + "/nats-server"; ::access(file.c_str(), X_OK) == 0)
      return file;
  return {};
}

struct server_ports {
  int clients;
  int leaf_nodes;
};

// Free a moment ago; all are held at once, so that no two are the same.
std::vector<server_ports> pick_ports(unsigned servers) {
  std::vector<tcp_listener> held(2 * servers);
  std::vector<server_ports> ports;
  for (unsigned i = 0; i < servers; ++i)
    ports.push_back({held[2 * i].port(), held[2 * i + 1].port()});
  return ports;
}

// The relays of a run: the first is the subscriber's, the last the publisher's server.
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

void subscribe(run_state& state, const run_options& options, int port) {
  nats_client client{port};
  stream_subscription subscription{client, state, options};
  state.wait_for_end();
}

void publish(run_state& state, const run_options& options, int port) {
  nats_client client{port};
  auto send = [&](std::span<const std::byte> message) {
    check(natsConnection_Publish(client.get(), subject, message.data(),
                                 static_cast<int>(message.size())),
          "natsConnection_Publish");
  };
  probe_until_seen(state, options.payload_bytes, send);
  publish_stream(state, options, window, send);
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse_options(argc, argv, "NATS as a peer.");
  if (options.local() || options.relays == 0)
    return report_unavailable("NATS", "always has a server in between");
  auto program = find_server();
  if (program.empty())
    return report_unavailable("NATS", "not installed: nats-server");
  server_chain servers{program, options.relays};
  return run(
      "NATS", NATS_VERSION_STRING, options,
      {.subscribe = [&](run_state& state) { subscribe(state, options, servers.subscriber_port()); },
       .relay = [&](run_state&, unsigned stage) { servers.become(stage); },
       .publish = [&](run_state& state) { publish(state, options, servers.publisher_port()); }});
}
