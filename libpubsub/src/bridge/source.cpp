// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/bridge/source.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include "bridge/engines.hpp"
#include "bridge/source_worker.hpp"

namespace pubsub::bridge {

namespace {

using kind = start_position::kind;

std::optional<timestamp> parse_seconds(std::string_view text) {
  constexpr double latest = 9e9; // what 64 bits of nanoseconds hold
  double seconds = 0;
  const auto* const end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, seconds);
  if (failed != std::errc{} || at != end || !(seconds >= 0 && seconds < latest))
    return {};
  return timestamp{std::chrono::duration_cast<timespan>(std::chrono::duration<double>{seconds})};
}

/// Seconds since 1970, or `2026-11-28T01:00:00Z`.
std::optional<timestamp> parse_time(const std::string& text) {
  if (const auto seconds = parse_seconds(text))
    return seconds;
  std::tm parts{};
  const auto* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || (!std::string_view{rest}.empty() && std::string_view{rest} != "Z"))
    return {};
  return timestamp{std::chrono::seconds{::timegm(&parts)}};
}

} // namespace

expected<start_position> parse_start(std::string_view text) {
  constexpr std::string_view time_prefix = "time:";
  constexpr std::string_view offset_prefix = "offset:";
  if (text == "stored")
    return start_position{};
  if (text == "beginning")
    return start_position{.at = kind::beginning, .offset = {}};
  if (text == "end")
    return start_position{.at = kind::end, .offset = {}};
  if (text.starts_with(time_prefix))
    if (const auto time = parse_time(std::string{text.substr(time_prefix.size())}))
      return start_position{kind::time, *time, {}};
  if (text.starts_with(offset_prefix) && text.size() > offset_prefix.size())
    return start_position{.at = kind::offset,
                          .offset = std::string{text.substr(offset_prefix.size())}};
  return wrong_option(
      "start '" + std::string{text} +
      "' is none of stored, beginning, end, time:2026-11-28T01:00:00Z (or seconds), "
      "offset:N");
}

expected<void> check(const source_options& options, const engine& from) {
  if (options.from.empty() && !std::holds_alternative<jetstream>(from))
    return wrong_option("from: says what to read");
  if (std::ranges::any_of(options.from, &std::string::empty))
    return wrong_option("from: a name is not empty");
  if (options.format == payload_format::avro)
    return error{errc::not_supported, "format: records in Avro are written, and not read"};
  if (!(options.rate >= 0))
    return wrong_option("rate: not negative");
  if (options.commit_interval < std::chrono::milliseconds{10})
    return wrong_option("commit_interval: at least 10 ms");
  if (options.close_timeout < std::chrono::nanoseconds{0})
    return wrong_option("close_timeout: not negative");
  if (options.start.at == kind::stored && options.group.empty())
    return wrong_option("start: of what is stored there is a group");
  if (auto publish = source_worker::parse_publish(options.publish); !publish)
    return wrong_option("publish: " + publish.error().context());
  if (std::holds_alternative<redis>(from)) // which connects to nothing before it is used
    if (auto made = make_reader(from, options); !made)
      return made.error();
  return {};
}

expected<source> source::open(const endpoint& at, engine from, source_options options) {
  auto worker = source_worker::start(at, from, options);
  if (!worker)
    return worker.error();
  return source{std::move(*worker)};
}

source::source(std::shared_ptr<source_worker> worker) noexcept : worker_(std::move(worker)) {}
source::source(source&&) noexcept = default;
source& source::operator=(source&& other) noexcept {
  worker_.swap(other.worker_);
  return *this;
}
source::~source() {
  if (worker_ != nullptr)
    worker_->close();
}

bridge_counters source::counters() const {
  return worker_->counters();
}
bool source::wait_end(std::chrono::nanoseconds timeout) {
  return worker_->wait_end(timeout);
}
bool source::closed() const {
  return worker_->closed();
}
error source::failure() const {
  return worker_->failure();
}
std::string source::last_problem() const {
  return worker_->last_problem();
}
void source::close() {
  worker_->close();
}

} // namespace pubsub::bridge
