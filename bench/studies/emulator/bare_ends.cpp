// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/bare_ends.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace emulator {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t buffer_bytes = 256 * 1024;

// What the client wants: send so many bytes, and be sent so many after an answer.
struct request {
  std::uint64_t up_bytes;
  std::uint64_t down_bytes;
};

// How the server received what it was sent.
struct answer {
  std::uint64_t first_bytes;
  std::uint64_t ns;
};

std::size_t read_more(bench::tcp_socket& from, std::byte* to, std::size_t at_most) {
  const auto n = from.read_some(to, at_most);
  if (n == 0)
    throw std::system_error(ECONNRESET, std::generic_category(), "read");
  return n;
}

// The bytes of the first read, and the time from there to the last.
answer take(bench::tcp_socket& from, std::vector<std::byte>& into, std::uint64_t bytes) {
  if (bytes == 0)
    return {0, 0};
  const auto first = read_more(from, into.data(), std::min<std::uint64_t>(into.size(), bytes));
  const auto begin = clock::now();
  for (auto left = bytes - first; left > 0;)
    left -= read_more(from, into.data(), std::min<std::uint64_t>(into.size(), left));
  return {first, static_cast<std::uint64_t>((clock::now() - begin).count())};
}

void give(bench::tcp_socket& to, const std::vector<std::byte>& from, std::uint64_t bytes) {
  while (bytes > 0) {
    const auto n = std::min<std::uint64_t>(from.size(), bytes);
    to.write_all(from.data(), n);
    bytes -= n;
  }
}

template <class Message>
Message receive(bench::tcp_socket& from) {
  Message result{};
  auto* const to = reinterpret_cast<std::byte*>(&result);
  for (std::size_t got = 0; got < sizeof result;)
    got += read_more(from, to + got, sizeof result - got);
  return result;
}

template <class Message>
void send(bench::tcp_socket& to, const Message& x) {
  to.write_all(&x, sizeof x);
}

double bits_per_s(std::uint64_t bytes, const answer& how) {
  const auto bits = 8 * static_cast<double>(bytes - how.first_bytes);
  return bits / (static_cast<double>(how.ns) / 1e9);
}

} // namespace

bare_server::bare_server() {
  thread_ = std::thread{[this] { serve(); }};
}

bare_server::~bare_server() {
  listener_.stop();
  thread_.join();
}

void bare_server::serve() {
  const off_last_processor off_links;
  try {
    auto client = listener_.accept();
    std::vector<std::byte> buffer(buffer_bytes);
    for (;;) {
      const auto wanted = receive<request>(client);
      send(client, take(client, buffer, wanted.up_bytes));
      give(client, buffer, wanted.down_bytes);
    }
  } catch (const std::system_error&) { // the client has gone, or never came
  }
}

bare_client::bare_client(int port)
    : socket_(bench::tcp_socket::connect(port)), buffer_(buffer_bytes) {}

std::chrono::nanoseconds bare_client::round_trip() {
  const auto begin = clock::now();
  send(socket_, request{0, 0});
  receive<answer>(socket_);
  return clock::now() - begin;
}

std::chrono::nanoseconds bare_client::median_round_trip(unsigned count) {
  for (unsigned i = 0; i < count / 8 + 1; ++i) // connections and caches get warm
    round_trip();
  std::vector<std::chrono::nanoseconds> times;
  for (unsigned i = 0; i < count; ++i)
    times.push_back(round_trip());
  const auto middle = times.begin() + count / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

double bare_client::up_bits_per_s(std::uint64_t bytes) {
  send(socket_, request{bytes, 0});
  give(socket_, buffer_, bytes);
  return bits_per_s(bytes, receive<answer>(socket_));
}

double bare_client::down_bits_per_s(std::uint64_t bytes) {
  send(socket_, request{0, bytes});
  receive<answer>(socket_);
  return bits_per_s(bytes, take(socket_, buffer_, bytes));
}

} // namespace emulator
