// The network of the fault suite: a TCP proxy whose links break as commands on standard input tell.
// One thread. Ends at the end of its input.
// SPDX-License-Identifier: BSD-3-Clause
#include "shim_link.hpp"

#include <csignal>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>

#include <sys/prctl.h>
#include <unistd.h>

namespace faults {

namespace {

class shim {
public:
  explicit shim(asio::io_context& loop) : loop_(loop), input_(loop, ::dup(STDIN_FILENO)) {
    next_line();
  }

private:
  void next_line() {
    asio::async_read_until(input_, buffer_, '\n',
                           [this](const boost::system::error_code& failure, std::size_t) {
                             if (failure)
                               return loop_.stop();
                             std::string line;
                             std::istream in{&buffer_};
                             std::getline(in, line);
                             answer(line, [this](const command& c) { return handle(c); });
                             next_line();
                           });
  }

  json_object handle(const command& in) {
    const auto name = in.text("name");
    if (in.verb() == "link")
      return make(name, in);
    const auto found = links_.find(name);
    if (found == links_.end())
      throw std::runtime_error{"there is no link " + name};
    auto& link = *found->second;
    if (in.verb() == "retarget")
      link.retarget(static_cast<std::uint16_t>(in.number("to")));
    else if (in.verb() == "shape")
      link.shape(in.text("direction", "both"), shaping_from(in));
    else if (in.verb() == "reset")
      link.reset();
    else if (in.verb() == "down")
      link.down();
    else if (in.verb() == "stall")
      link.stall(in.text("direction", "both"));
    else if (in.verb() == "vanish")
      link.vanish();
    else if (in.verb() == "heal")
      link.heal();
    else if (in.verb() != "status")
      throw std::runtime_error{"there is no command " + in.verb()};
    if (const auto time = in.number("for_ms", 0); time > 0)
      link.heal_after(std::chrono::milliseconds{time});
    return link.status();
  }

  json_object make(const std::string& name, const command& in) {
    auto fresh = std::make_unique<shim_link>(loop_, static_cast<std::uint16_t>(in.number("to")),
                                             in.number("seed", 0));
    if (links_.contains(name))
      throw std::runtime_error{"there is a link " + name + " already"};
    return json_object{}.add("port", (links_[name] = std::move(fresh))->port());
  }

  static shaping shaping_from(const command& in) {
    return {.delay = std::chrono::milliseconds{in.number("delay_ms", 0)},
            .jitter = std::chrono::milliseconds{in.number("jitter_ms", 0)},
            .bytes_per_second = in.number("bytes_per_second", 0),
            .chunk_bytes = in.number("chunk_bytes", 0)};
  }

  asio::io_context& loop_;
  asio::posix::stream_descriptor input_;
  asio::streambuf buffer_;
  std::map<std::string, std::unique_ptr<shim_link>> links_;
};

} // namespace

} // namespace faults

int main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  boost::asio::io_context loop{1};
  faults::shim network{loop};
  std::cout << faults::json_object{}.add("ok", true).text() << std::endl;
  loop.run();
}
