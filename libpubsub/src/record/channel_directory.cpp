// SPDX-License-Identifier: BSD-3-Clause
#include "record/channel_directory.hpp"

#include <charconv>
#include <concepts>

#include "record/channel_names.hpp"

namespace pubsub::record {

namespace {

constexpr std::size_t max_channel_bytes = 64 * 1024 * 1024;

std::string_view entry(const mcap::channel& x, std::string_view name) {
  const auto found = x.metadata.find(name);
  return found == x.metadata.end() ? std::string_view{} : std::string_view{found->second};
}

template <std::unsigned_integral T>
bool read_number(std::string_view text, T& out) {
  const auto* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, out);
  return failure == std::errc{} && at == end;
}

// Nothing where the metadata do not name one, or not as this library does.
std::optional<message_origin> origin_of(const mcap::channel& x) {
  const auto id = endpoint_id::parse(entry(x, origin_name));
  message_origin origin;
  std::uint32_t upper = 0;
  const auto upper_text = entry(x, upper_half_name);
  if (!id || !read_number(entry(x, stream_name), origin.stream) ||
      (!upper_text.empty() && !read_number(upper_text, upper)))
    return std::nullopt;
  origin.endpoint = *id;
  origin.sequence = std::uint64_t{upper} << 32;
  return origin;
}

std::string topic_of(const mcap::channel& x) {
  const auto digits = entry(x, topic_bytes_name);
  auto exact = digits.empty() ? std::nullopt : from_hex(digits);
  return exact ? std::move(*exact) : x.topic;
}

std::size_t size_of(const known_channel& x) {
  return sizeof x + x.topic.size() + x.encoding.size();
}

} // namespace

expected<void> channel_directory::add(const mcap::channel& x) {
  known_channel channel{topic_of(x), x.encoding, origin_of(x), true};
  channel.wanted = topics_.matches(channel.topic);
  auto& known = channels_[x.id];
  bytes_ += size_of(channel) - (known.topic.empty() && known.encoding.empty() ? 0 : size_of(known));
  known = std::move(channel);
  if (bytes_ > max_channel_bytes)
    return error{errc::limit_exceeded, "the names of channels take more than 64 MiB"};
  return {};
}

const known_channel* channel_directory::find(std::uint16_t id) const noexcept {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : &found->second;
}

} // namespace pubsub::record
