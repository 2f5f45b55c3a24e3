// SPDX-License-Identifier: BSD-3-Clause
#include "clients/swarm.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/broker/handshake.hpp"
#include "wire/native/batch.hpp"
#include "wire/native/network.hpp"

namespace pubsub::tool::bench {

namespace {

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// -- the native protocol
// ---------------------------------------------------------------------------

class native_client final : public swarm_client {
public:
  void begin(std::vector<std::byte>& out) override {
    out_ = &out;
    handshake_.start();
  }

  std::size_t receive(std::span<const std::byte> in, std::vector<std::byte>& out) override {
    out_ = &out;
    std::size_t taken = 0;
    while (in.size() - taken >= frame_header_bytes) {
      const auto word = load_be<std::uint32_t>(in.data() + taken);
      const auto size = frame_header_bytes + (word & ~wire::batch_flag);
      if (in.size() - taken < size)
        break;
      take(in.subspan(taken + frame_header_bytes, size - frame_header_bytes),
           (word & wire::batch_flag) != 0);
      taken += size;
    }
    return taken;
  }

private:
  void take(std::span<const std::byte> payload, bool of_version_2) {
    using outcome = wire::handshake::outcome;
    if (!handshake_.over()) {
      const auto before = handshake_.state();
      const auto now = handshake_.receive(payload);
      if (now == outcome::peered && before == outcome::running)
        tell_all();
      else if (now != outcome::running && now != outcome::peered)
        throw std::runtime_error("handshake: " + handshake_.failure().message());
    } else if (of_version_2) {
      const auto kind = wire::kind_of(payload);
      ready_ = ready_ || kind == wire::frame_kind::answer;
      messages_ += kind == wire::frame_kind::records ? 1 : 0;
    }
  }

  /// The subscription, and the question whether it is in force.
  void tell_all() {
    const report_header about{self_, 1, 1, true};
    append(*out_, wire::make_report(filter_report{about, {"bench/all"}, {}}));
    append(*out_, wire::make_known());
    append(*out_, wire::make_question({self_, 1, {handshake_.remote()}}));
  }

  const endpoint_id self_ = endpoint_id::random();
  std::vector<std::byte>* out_ = nullptr;
  wire::handshake handshake_{wire::tcp_role::connecting,
                             {.self = self_,
                              .max_version = 2,
                              .client = true,
                              .local_filter = [](const auto&) { return filter{}; },
                              .admit = [](const auto&, bool) { return wire::admission::proceed; },
                              .is_known = [](const auto&) { return false; },
                              .send = [this](auto frame) { append(*out_, frame); }}};
};

// -- NATS
// ------------------------------------------------------------------------------------------

class nats_client final : public swarm_client {
public:
  void begin(std::vector<std::byte>& out) override {
    say(out, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB bench.all 1\r\nPING\r\n");
  }

  std::size_t receive(std::span<const std::byte> in, std::vector<std::byte>& out) override {
    const std::string_view text{reinterpret_cast<const char*>(in.data()), in.size()};
    std::size_t taken = 0;
    for (auto end = text.find("\r\n"); end != text.npos; end = text.find("\r\n", taken)) {
      const auto line = text.substr(taken, end - taken);
      auto next = end + 2;
      if (line.starts_with("MSG ")) {
        next += std::stoul(std::string{line.substr(line.rfind(' ') + 1)}) + 2;
        if (next > text.size())
          break;
        ++messages_;
      } else if (line.starts_with("-ERR")) {
        throw std::runtime_error("NATS: " + std::string{line});
      } else if (line == "PING") {
        say(out, "PONG\r\n");
      }
      ready_ = ready_ || line == "PONG";
      taken = next;
    }
    return taken;
  }

private:
  static void say(std::vector<std::byte>& out, std::string_view text) {
    append(out, std::as_bytes(std::span{text}));
  }
};

} // namespace

std::unique_ptr<swarm_client> make_native_client() {
  return std::make_unique<native_client>();
}

std::unique_ptr<swarm_client> make_nats_client() {
  return std::make_unique<nats_client>();
}

} // namespace pubsub::tool::bench
