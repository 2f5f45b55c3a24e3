// A limit of reading remote files: requests of nine bytes on a TCP connection, each answered with a
// part of a file by sendfile(2), so that the server copies nothing. The file is in memory.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/requests.hpp"
#include "support/run.hpp"
#include "support/tcp.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr std::size_t file_bytes = std::size_t{16} << 20;
constexpr unsigned server_stage = 0;

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

class memory_file {
public:
  memory_file() : fd_(::memfd_create("served", MFD_CLOEXEC)) {
    const std::vector<char> zeros(file_bytes);
    if (fd_ < 0 || ::write(fd_, zeros.data(), zeros.size()) != static_cast<ssize_t>(file_bytes))
      fail("memfd_create");
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(fd_); }
  int fd() const noexcept { return fd_; }

private:
  int fd_;
};

void serve(run_state& state, const run_options& options) {
  const memory_file file;
  tcp_listener listener;
  state.tell_port(server_stage, listener.port());
  auto client = listener.accept();
  std::vector<std::byte> requests(request_window * request_bytes);
  off_t at = 0;
  for (std::size_t waiting = 0;;) {
    const auto n = client.read_some(requests.data(), requests.size());
    if (n == 0)
      return;
    for (waiting += n; waiting >= request_bytes; waiting -= request_bytes) {
      if (static_cast<std::size_t>(at) + options.payload_bytes > file_bytes)
        at = 0;
      for (auto left = options.payload_bytes; left > 0;) {
        const auto sent = ::sendfile(client.fd(), file.fd(), &at, left);
        if (sent <= 0)
          fail("sendfile");
        left -= static_cast<std::size_t>(sent);
      }
    }
  }
}

void request(run_state& state, const run_options& options) {
  auto server = tcp_socket::connect(state.wait_for_port(server_stage));
  const std::byte argument[request_bytes] = {};
  std::vector<std::byte> reply(options.payload_bytes);
  const auto window = options.pattern == "single" ? 1 : request_window;
  ask(
      state, options, window, [&] { server.write_all(argument, sizeof argument); },
      [&] {
        for (std::size_t got = 0; got < reply.size();) {
          const auto n = server.read_some(reply.data() + got, reply.size() - got);
          if (n == 0)
            throw std::runtime_error("the server has gone");
          got += n;
        }
        return 1U;
      });
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const auto options =
      parse_options(argc, argv, "Parts of a file by sendfile(2).", {"stream", "single"});
  return run("bare sendfile", "", options,
             {.subscribe = [&](run_state& state) { serve(state, options); },
              .relay = {},
              .publish = [&](run_state& state) { request(state, options); }});
}
