// SPDX-License-Identifier: BSD-3-Clause
#include "numbered.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

namespace faults {

namespace {

constexpr std::size_t block_bytes = 65'536; // also the longest payload

std::uint64_t mix(std::uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  return x;
}

std::uint64_t absorb(std::uint64_t sum, std::string_view bytes) noexcept {
  sum = mix(sum ^ bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const auto n = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), n);
    sum = mix(sum ^ word) + word;
    bytes.remove_prefix(n);
  }
  return sum;
}

/// Bytes without a pattern, twice as many as the longest payload, so that one can start anywhere.
const std::string& random_bytes() {
  static const std::string block = [] {
    std::string bytes(2 * block_bytes, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(mix(i + 1) >> 40);
    return bytes;
  }();
  return block;
}

} // namespace

std::uint64_t checksum(const numbered& head, std::string_view topic,
                       std::string_view payload) noexcept {
  const auto sum = mix(mix(head.publisher) ^ head.number);
  return absorb(absorb(sum, topic), payload);
}

void write_numbered(pubsub::data_writer& out, const numbered& head, std::string_view topic,
                    std::size_t min_bytes, std::size_t max_bytes) {
  assert(min_bytes <= max_bytes && max_bytes <= block_bytes);
  const auto dice = mix(mix(head.publisher) + head.number);
  const auto size = min_bytes + (dice >> 32) % (max_bytes - min_bytes + 1);
  const auto payload = std::string_view{random_bytes()}.substr(dice % block_bytes, size);
  out.begin_vector(4);
  out.write_count(head.publisher);
  out.write_count(head.number);
  out.write_count(checksum(head, topic, payload));
  out.write_string(payload);
}

std::optional<numbered> read_numbered(const pubsub::data_message& msg) {
  const auto view = pubsub::get_view(msg);
  if (view.type() != pubsub::data_type::vector || view.size() != 4)
    return std::nullopt;
  auto part = view.elements().begin();
  std::uint64_t counts[3];
  for (auto& each : counts) {
    if ((*part).type() != pubsub::data_type::count)
      return std::nullopt;
    each = (*part).as_count();
    ++part;
  }
  if ((*part).type() != pubsub::data_type::string)
    return std::nullopt;
  const numbered head{counts[0], counts[1]};
  if (checksum(head, pubsub::get_topic(msg), (*part).as_string()) != counts[2])
    return std::nullopt;
  return head;
}

} // namespace faults
