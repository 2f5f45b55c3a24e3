#include "wire/broker/circle_probe.hpp"

#include <array>
#include <cstring>

#include "base/id_bytes.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub::wire {

namespace {

constexpr std::uint64_t mark = 0x6c69'6270'7562'7375; // "libpubsu"; stores count from 1
constexpr std::byte cumulative_ack{10};
constexpr std::size_t entity_bytes = endpoint_id_bytes + sizeof(std::uint64_t);
constexpr std::size_t from_at = sizeof(std::uint64_t);
constexpr std::size_t over_at = from_at + entity_bytes;
constexpr std::size_t kind_at = over_at + entity_bytes;
constexpr std::size_t number_at = kind_at + 1;
constexpr std::size_t probe_bytes = number_at + sizeof(std::uint64_t);

} // namespace

std::vector<std::byte> make_circle_probe(const circle_probe& x, std::string_view topic) {
  std::array<std::byte, probe_bytes> payload{};
  auto* const out = payload.data();
  store_be(out, mark);
  std::memcpy(out + from_at, x.from.bytes().data(), endpoint_id_bytes);
  std::memcpy(out + over_at, x.over.bytes().data(), endpoint_id_bytes);
  out[kind_at] = cumulative_ack;
  store_be(out + number_at, mark);
  return make_command(x.from, topic, payload);
}

std::optional<circle_probe> parse_circle_probe(std::span<const std::byte> payload) noexcept {
  const auto* const in = payload.data();
  if (payload.size() != probe_bytes || load_be<std::uint64_t>(in) != mark ||
      in[kind_at] != cumulative_ack || load_be<std::uint64_t>(in + number_at) != mark)
    return {};
  return circle_probe{read_id(in + from_at), read_id(in + over_at)};
}

} // namespace pubsub::wire
