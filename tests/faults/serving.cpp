// SPDX-License-Identifier: BSD-3-Clause
#include "serving.hpp"

#include <stdexcept>

namespace faults {

namespace {

/// What a handler does with its time; a kill falls into it as often as between two operations.
void be_busy(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

pubsub::data sum(const pubsub::data& argument) {
  std::uint64_t result = 0;
  for (const auto& each : argument.get<pubsub::vector>())
    result += each.get<pubsub::count>();
  return result;
}

} // namespace

serving::serving(pubsub::endpoint& node, const std::string& service,
                 const pubsub::service_options& options, const std::string& name,
                 const std::string& file, std::chrono::microseconds work, planted fault)
    : name_(name), fault_(fault), out_(file), it_(*pubsub::service::open(node, service, options)) {
  const auto add = [&](const char* operation, pubsub::repeatable repeat, auto handler) {
    (void)it_.add(
        operation,
        [=](const pubsub::data_view& argument) -> pubsub::expected<pubsub::data> {
          auto result = handler(argument.to_data());
          be_busy(work);
          return result;
        },
        repeat);
  };
  add("echo", pubsub::repeatable::idempotent, [](pubsub::data x) { return x; });
  add("sum", pubsub::repeatable::idempotent, [](const pubsub::data& x) { return sum(x); });
  add("note", pubsub::repeatable::no, [this](pubsub::data x) { return note(std::move(x)); });
  if (const auto started = it_.start(); !started)
    throw std::runtime_error{started.error().message()};
}

/// What is in the file survives a kill: it is with the kernel.
pubsub::data serving::note(pubsub::data argument) {
  auto& fields = argument.get<pubsub::vector>();
  const std::lock_guard lock{mutex_};
  const bool faulty = ++noted_ % planted_every == 0;
  if (!faulty || fault_ != planted::loss)
    out_ << fields.at(0).get<std::string>() << ' ' << fields.at(1).get<pubsub::count>() << '\n';
  if (faulty && fault_ == planted::duplicate)
    out_ << fields.at(0).get<std::string>() << ' ' << fields.at(1).get<pubsub::count>() << '\n';
  out_.flush();
  if (faulty && fault_ == planted::damage)
    ++fields.at(1).get<pubsub::count>();
  fields.emplace_back(name_);
  return argument;
}

json_object serving::report() const {
  const auto counted = it_.counters();
  return json_object{}
      .add("operations", counted.operations)
      .add("failed", counted.failed)
      .add("cancelled", counted.cancelled)
      .add("refused", counted.refused)
      .add("clients", it_.clients());
}

} // namespace faults
