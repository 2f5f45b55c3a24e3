// SPDX-License-Identifier: BSD-3-Clause
#include "remote/remote_work.hpp"

#include "remote/remote_operations.hpp"

#include <sstream>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

/// FAOPs read one part of the file after the other.
void write_argument(data_writer& to, const remote_work& x, std::size_t number) {
  if (x.operation == operation_kind::noop)
    return write_noop(to, x.size_bytes, x.work, x.ballast_bytes);
  const auto places = x.size_bytes == 0 ? 1 : served_bytes / x.size_bytes;
  write_faop(to, served_file, number % places * x.size_bytes, x.size_bytes);
}

} // namespace

std::string_view to_string(operation_kind x) noexcept {
  return x == operation_kind::noop ? "noop" : "faop";
}

std::size_t argument_bytes(const remote_work& x) {
  data_writer one;
  write_argument(one, x, 0);
  return one.size_bytes();
}

std::size_t result_bytes(const remote_work& x) {
  data_writer one;
  one.write_blank_string(x.size_bytes);
  return one.size_bytes();
}

std::vector<std::byte> arguments_of(const remote_work& x) {
  data_writer all;
  for (std::size_t i = 0; i < x.operations; ++i)
    write_argument(all, x, i);
  return all.take();
}

std::string remote_order::text() const {
  return fmt::format("run {} {} {} {} {} {} {} {}", to_string(mode), to_string(what.operation),
                     what.operations, what.size_bytes, what.parts, what.work.count(),
                     what.ballast_bytes, least_s);
}

std::optional<remote_order> remote_order::parse(const std::string& line) {
  std::istringstream in{line};
  std::string word;
  std::string mode;
  std::string operation;
  std::chrono::microseconds::rep work = 0;
  remote_order x;
  if (!(in >> word >> mode >> operation >> x.what.operations >> x.what.size_bytes >> x.what.parts >>
        work >> x.what.ballast_bytes >> x.least_s) ||
      word != "run")
    return std::nullopt;
  const auto known = parse_remote_mode(mode);
  if (!known || x.what.parts == 0 || x.what.operations < x.what.parts ||
      (operation != "noop" && operation != "faop"))
    return std::nullopt;
  x.mode = *known;
  x.what.operation = operation == "noop" ? operation_kind::noop : operation_kind::faop;
  x.what.work = std::chrono::microseconds{work};
  return x;
}

} // namespace pubsub::tool::bench
