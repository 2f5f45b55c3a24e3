// SPDX-License-Identifier: BSD-3-Clause
#include "wire/broker/envelope.hpp"

#include <algorithm>

#include "base/byte_writer.hpp"
#include "base/printable.hpp"

namespace pubsub::wire {

namespace {

constexpr std::string_view refusal_mark = "libpubsub refuses: ";
constexpr std::size_t max_refusal_bytes = 300;
// What marks a circle probe.
constexpr std::uint64_t mark = 0x6c69'6270'7562'7375; // "libpubsu"; stores count from 1
constexpr std::uint8_t cumulative_ack = 10;
constexpr std::uint64_t object = 0; // of an endpoint, that sends or receives

std::byte* write_envelope_header(std::byte* out, const endpoint_id& sender,
                                 const endpoint_id& receiver, envelope_type type,
                                 std::string_view topic, std::uint16_t ttl) noexcept {
  std::memcpy(out, sender.bytes().data(), 16);
  std::memcpy(out + 16, receiver.bytes().data(), 16);
  out[32] = static_cast<std::byte>(type);
  store_be(out + 33, ttl);
  store_be(out + 35, static_cast<std::uint16_t>(topic.size()));
  std::memcpy(out + envelope_header_bytes, topic.data(), topic.size());
  return out + envelope_header_bytes + topic.size();
}

std::vector<std::byte> make_envelope(const endpoint_id& sender, const endpoint_id& receiver,
                                     envelope_type type, std::string_view topic,
                                     std::span<const std::byte> payload) {
  const auto size = envelope_header_bytes + topic.size() + payload.size();
  std::vector<std::byte> frame(frame_header_bytes + size);
  auto* const envelope = store_be(frame.data(), static_cast<std::uint32_t>(size));
  std::ranges::copy(payload,
                    write_envelope_header(envelope, sender, receiver, type, topic, default_ttl));
  return frame;
}

} // namespace

std::optional<envelope_view> parse_envelope(std::span<const std::byte> frame_payload) noexcept {
  if (frame_payload.size() < envelope_header_bytes)
    return {};
  const auto* pos = frame_payload.data();
  const auto type = static_cast<std::uint8_t>(pos[32]);
  const auto topic_size = load_be<std::uint16_t>(pos + 35);
  if (type < 1 || type > 5 || frame_payload.size() - envelope_header_bytes < topic_size)
    return {};
  const auto* topic = reinterpret_cast<const char*>(pos + envelope_header_bytes);
  return envelope_view{read_id(pos),
                       read_id(pos + 16),
                       static_cast<envelope_type>(type),
                       load_be<std::uint16_t>(pos + 33),
                       {topic, topic_size},
                       frame_payload.subspan(envelope_header_bytes + topic_size)};
}

std::byte* write_data_header(std::byte* out, const endpoint_id& sender, std::string_view topic,
                             std::size_t payload_size, std::uint16_t ttl,
                             const endpoint_id& receiver) noexcept {
  const auto length = envelope_header_bytes + topic.size() + payload_size;
  out = store_be(out, static_cast<std::uint32_t>(length));
  return write_envelope_header(out, sender, receiver, envelope_type::data, topic, ttl);
}

std::vector<std::byte> make_routing_update(const endpoint_id& sender, const endpoint_id& receiver,
                                           const filter& announced) {
  return make_envelope(sender, receiver, envelope_type::routing_update, control_topic,
                       byte_writer{}.add(announced).take());
}

std::vector<std::byte> make_ping(const endpoint_id& sender, const endpoint_id& receiver,
                                 std::span<const std::byte> payload) {
  return make_envelope(sender, receiver, envelope_type::ping, control_topic, payload);
}

std::vector<std::byte> make_pong(const endpoint_id& sender, const endpoint_id& receiver,
                                 std::span<const std::byte> payload) {
  return make_envelope(sender, receiver, envelope_type::pong, control_topic, payload);
}

std::vector<std::byte> make_command(const endpoint_id& sender, std::string_view topic,
                                    std::span<const std::byte> payload) {
  return make_envelope(sender, {}, envelope_type::command, topic, payload);
}

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

std::vector<std::byte> make_refusal(const endpoint_id& sender, std::string_view what) {
  const auto text = std::string{refusal_mark}.append(what.substr(0, max_refusal_bytes));
  return make_command(sender, control_topic, std::as_bytes(std::span{text}));
}

std::optional<std::string> parse_refusal(std::span<const std::byte> payload) {
  const std::string_view text{reinterpret_cast<const char*>(payload.data()), payload.size()};
  if (!text.starts_with(refusal_mark))
    return {};
  return printable(text.substr(refusal_mark.size(), max_refusal_bytes));
}

expected<filter> read_filter(byte_reader& in) {
  std::uint32_t count = 0;
  if (!in.read_varbyte(count) || count > in.remaining())
    return errc::invalid_message;
  if (count > max_prefixes)
    return error{errc::limit_exceeded, std::to_string(count) + " topic prefixes; the limit is " +
                                           std::to_string(max_prefixes)};
  std::vector<std::string> prefixes;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string_view prefix;
    if (!in.read_string(prefix))
      return errc::invalid_message;
    prefixes.emplace_back(prefix);
  }
  return filter{std::move(prefixes)}; // in time, even if the peer sends them in bad order
}

expected<filter> parse_filter(std::span<const std::byte> bytes) {
  byte_reader in{bytes};
  auto result = read_filter(in);
  return result && !in.at_end() ? expected<filter>{errc::invalid_message} : result;
}

std::vector<std::byte> make_frame(std::span<const std::byte> payload) {
  std::vector<std::byte> result(frame_header_bytes + payload.size());
  auto* body = store_be(result.data(), static_cast<std::uint32_t>(payload.size()));
  std::ranges::copy(payload, body);
  return result;
}

} // namespace pubsub::wire
