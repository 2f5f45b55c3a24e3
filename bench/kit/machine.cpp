// SPDX-License-Identifier: BSD-3-Clause
#include "kit/machine.hpp"

#include <fstream>
#include <string>
#include <thread>

#include <sys/utsname.h>

namespace pubsub::tool::bench {

namespace {

std::string processor_name() {
  std::ifstream info{"/proc/cpuinfo"};
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (auto at = line.find(": "); at != std::string::npos)
        return line.substr(at + 2);
  return "unknown";
}

} // namespace

json_object describe_machine() {
  utsname system{};
  ::uname(&system);
  json_object machine;
  machine.add("cpu", processor_name())
      .add("cores", std::thread::hardware_concurrency())
      .add("system", std::string{system.sysname} + " " + system.release + " " + system.machine)
      .add("compiler", "g++ " __VERSION__)
      .add("version", PUBSUB_VERSION);
  return machine;
}

} // namespace pubsub::tool::bench
