// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/link_emulator.hpp"

#include <thread>

#include "studies/emulator/link_loop.hpp"

namespace emulator {

class link_emulator::link_thread {
public:
  link_thread(socket listener, const socket_address& to, const link_settings& settings,
              const own_costs& costs)
      : address(local_address(listener)), port(local_port(listener)),
        loop(std::move(listener), to, settings, costs), runs_([this] { loop.run(); }) {}
  ~link_thread() {
    loop.stop();
    runs_.join();
  }

  const std::string address;
  const std::uint16_t port;
  link_loop loop;

private:
  std::thread runs_;
};

link_emulator::link_emulator(const std::string& listen, const std::string& to,
                             const link_settings& settings, const own_costs& costs)
    : thread_(std::make_unique<link_thread>(listen_on(socket_address{listen}), socket_address{to},
                                            settings, costs)) {}

link_emulator::~link_emulator() = default;

const std::string& link_emulator::address() const noexcept {
  return thread_->address;
}

std::uint16_t link_emulator::port() const noexcept {
  return thread_->port;
}

void link_emulator::change(const link_settings& settings) {
  thread_->loop.change(settings);
}

link_counters link_emulator::counters() const {
  return thread_->loop.counters();
}

} // namespace emulator
