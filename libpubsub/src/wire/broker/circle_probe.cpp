#include "wire/broker/circle_probe.hpp"

#include "base/byte_reader.hpp"
#include "base/byte_writer.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub::wire {

namespace {

constexpr std::uint64_t mark = 0x6c69'6270'7562'7375; // "libpubsu"; stores count from 1
constexpr std::uint8_t cumulative_ack = 10;
constexpr std::uint64_t object = 0; // of an endpoint, that sends or receives

} // namespace

std::vector<std::byte> make_circle_probe(const circle_probe& x, std::string_view topic) {
  byte_writer out;
  out.add(mark).add(x.from).add(object).add(x.over).add(object).add(cumulative_ack).add(mark);
  return make_command(x.from, topic, out.take());
}

std::optional<circle_probe> parse_circle_probe(std::span<const std::byte> payload) noexcept {
  byte_reader in{payload};
  circle_probe x;
  std::uint64_t first = 0;
  std::uint64_t number = 0;
  std::uint64_t ignored = 0;
  std::uint8_t kind = 0;
  if (!in.read(first) || !in.read(x.from) || !in.read(ignored) || !in.read(x.over) ||
      !in.read(ignored) || !in.read(kind) || !in.read(number) || !in.at_end() || first != mark ||
      kind != cumulative_ack || number != mark)
    return {};
  return x;
}

} // namespace pubsub::wire
