// A decoder with faults on purpose, to show that the engine finds each kind.
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include <algorithm>

namespace pubsub::fuzz {

void try_input(std::span<const std::byte> bytes) {
  const std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (text.starts_with("check"))
    check(text.size() < 6, "nothing follows");
  if (text == "beyond") {
    const volatile auto* pos = bytes.data();
    check(pos[bytes.size()] != pos[0], "this is not reached");
  }
  if (text == "memory") {
    const auto bound = bounded_by(bytes.size());
    const std::vector<char> much(1024 * 1024);
    check(much.size() > bytes.size(), "this is not reached");
  }
}

std::vector<std::string> seeds() {
  return {"", "chec"};
}

std::vector<std::string> words() {
  return {"check", "k"};
}

} // namespace pubsub::fuzz
