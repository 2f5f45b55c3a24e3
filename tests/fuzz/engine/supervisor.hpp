// Runs work in a child and keeps the input it died of, whatever the death.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace pubsub::fuzz {

/// Memory that parent and child share.
struct progress {
  static constexpr std::size_t max_input_bytes = 1 << 20;

  std::atomic<std::uint64_t> executions;
  std::atomic<std::uint64_t> edges;
  std::atomic<std::uint64_t> corpus;
  std::atomic<std::uint64_t> input_bytes;
  char input[max_input_bytes]; ///< the one being tried
};

struct verdict {
  std::uint64_t executions = 0;
  std::uint64_t edges = 0;
  std::uint64_t corpus = 0;
  std::string cause; ///< empty if the child ended well
  std::string input; ///< what it died of
};

/// Calls `work` in a child process. It is ended once it has tried no input for `patience`.
verdict supervise(const std::function<void(progress&)>& work, std::chrono::seconds patience);

} // namespace pubsub::fuzz
