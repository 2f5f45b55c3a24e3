// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/source_worker.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bridge/engines.hpp"

namespace pubsub::bridge {

namespace {

constexpr std::size_t records_at_once = 1'024;
// A thread that waits looks so often whether it is to end.
constexpr std::chrono::milliseconds patience{100};
constexpr std::array<std::string_view, 3> variables{"topic", "key", "origin-topic"};
enum variable : std::size_t { topic, key, origin_topic };

/// With a pace, no more than a tenth of a second's: what was fetched comes again if it ends.
std::size_t batch_of(double rate) {
  if (rate <= 0)
    return records_at_once;
  return static_cast<std::size_t>(std::clamp(rate / 10, 1.0, double{records_at_once}));
}

} // namespace

expected<name_template> source_worker::parse_publish(std::string_view text) {
  return name_template::parse(text, variables);
}

expected<std::shared_ptr<source_worker>>
source_worker::start(const endpoint& at, const engine& from, const source_options& options) {
  if (auto ok = check(options, from); !ok)
    return ok.error();
  auto publish = parse_publish(options.publish);
  if (!publish)
    return publish.error();
  std::optional<exchange> out;
  if (!options.pipeline.empty()) {
    auto made = exchange::open(at, options.pipeline);
    if (!made)
      return made.error();
    made->bind(options.pipeline);
    out.emplace(std::move(*made));
  }
  auto reader = make_reader(from, options);
  if (!reader)
    return reader.error();
  auto result = std::make_shared<source_worker>(at.share(), std::move(*reader), std::move(*publish),
                                                std::move(out), options);
  result->thread_ = std::thread{[worker = result.get()] { worker->run(); }};
  return result;
}

source_worker::source_worker(std::shared_ptr<endpoint> at, std::unique_ptr<engine_reader> reader,
                             name_template publish, std::optional<exchange> out,
                             source_options options)
    : endpoint_(std::move(at)), reader_(std::move(reader)), publish_(std::move(publish)),
      out_(std::move(out)), options_(std::move(options)),
      commit_at_(clock::now() + options_.commit_interval), next_at_(clock::now()) {}

source_worker::~source_worker() {
  close();
}

void source_worker::run() {
  bool whole = true; // all that was fetched was passed on
  while (whole && !must_end()) {
    batch_.clear();
    reader_->fetch(batch_, batch_of(options_.rate), patience);
    whole = pass_on_batch();
    if (whole)
      commit_if_due();
    show();
  }
  // Also what was rejected since the last time is done.
  for (bool done = !whole; !done && !reader_->failure() && !out_of_time() && !endpoint_closed_;)
    if ((done = confirm()))
      reader_->commit();
  show();
  const std::lock_guard lock{mutex_};
  ended_ = true;
  changed_.notify_all();
}

bool source_worker::must_end() const {
  return closing_ || endpoint_closed_ || reader_->failure() ||
         (options_.until_end && batch_.empty() && reader_->at_end());
}

bool source_worker::out_of_time() const {
  const std::lock_guard lock{mutex_};
  return clock::now() >= close_by_;
}

bool source_worker::pass_on_batch() {
  counts_.consumed += batch_.size();
  counts_.in_flight += batch_.size();
  return std::ranges::all_of(batch_, [this](const auto& each) { return pass_on(each); });
}

/// False if it was not taken before the end.
bool source_worker::pass_on(const fetched_record& record) {
  counts_.redelivered += record.again || record.from.redelivered ? 1 : 0;
  if (!options_.returned && !record.from.network.empty() &&
      record.from.network == std::string_view{options_.network}) {
    reject(record, &rejections::returned);
    return true;
  }
  const auto format =
      options_.format.value_or(record.from.format.value_or(payload_format::plain_json));
  const auto value = payloads_.read(record.payload, format);
  if (!value) {
    reject(record, &rejections::bad_payload);
    return true;
  }
  topic_.clear();
  publish_.expand(topic_, [&](std::size_t which) -> std::string_view {
    return which == key                                          ? record.key
           : which == origin_topic && !record.from.topic.empty() ? record.from.topic.view()
                                                                 : record.to;
  });
  if (!keep_pace())
    return false;
  const auto what = publish(topic_, *value);
  if (!what)
    return false;
  if (*what == publish_result::refused)
    reject(record, &rejections::refused);
  else if (*what == publish_result::unwanted)
    reject(record, &rejections::unwanted);
  else {
    ++handed_over_;
    handed_bytes_ += record.payload.size();
  }
  return true;
}

/// What became of it; nothing if it was not taken before the end.
std::optional<publish_result> source_worker::publish(const std::string& to,
                                                     std::span<const std::byte> value) {
  while (!out_of_time() && !endpoint_closed_) {
    if (out_) {
      const auto sent = out_->send_for(value, patience);
      if (sent)
        return publish_result::taken;
      endpoint_closed_ = sent.error() != errc::request_timeout;
      continue;
    }
    const auto what = endpoint_->publish_for(to, value, patience);
    endpoint_closed_ = what == publish_result::refused && endpoint_->counters().refused_closed > 0;
    if (what != publish_result::would_block && !endpoint_closed_)
      return what;
  }
  return {};
}

void source_worker::reject(const fetched_record& record, rejection why) {
  --counts_.in_flight;
  ++(counts_.rejected.*why);
  if (options_.dead_letters.empty() || why == &rejections::returned || why == &rejections::unwanted)
    return;
  const auto letter = endpoint_->publish(
      options_.dead_letters, data{vector{data{std::string{name_of(why)}}, data{record.to},
                                         data{record.key}, data{record.payload}}});
  counts_.dead_letters += letter == publish_result::taken ? 1 : 0;
}

/// False if it is to end while it waits.
bool source_worker::keep_pace() {
  if (options_.rate <= 0)
    return true;
  const auto between = std::chrono::duration_cast<clock::duration>(
      std::chrono::duration<double>{1.0 / options_.rate});
  next_at_ = std::max(next_at_ + between, clock::now() - std::chrono::seconds{1});
  std::unique_lock lock{mutex_};
  return !changed_.wait_until(lock, next_at_, [this] { return closing_.load(); });
}

void source_worker::commit_if_due() {
  if (clock::now() < commit_at_)
    return;
  while (!confirm())
    if (out_of_time() || endpoint_closed_)
      return;
  reader_->commit();
  commit_at_ = clock::now() + options_.commit_interval;
}

/// Whether everything that was handed over has been taken for good.
bool source_worker::confirm() {
  if (handed_over_ == 0)
    return true;
  if (out_)
    out_->send_pending();
  const auto left = out_ ? out_->drain(patience) : endpoint_->drain(patience);
  if (left > 0) {
    endpoint_closed_ = endpoint_closed_ || (out_ && out_->closed());
    return false;
  }
  const auto dead = out_ ? out_->counters().dead : 0;
  const auto lost = dead - std::exchange(dead_before_, dead);
  counts_.rejected.dead += lost;
  counts_.delivered += handed_over_ - lost;
  counts_.bytes += std::exchange(handed_bytes_, 0);
  counts_.in_flight -= std::exchange(handed_over_, 0);
  return true;
}

/// What other threads may see of it.
void source_worker::show() {
  counts_.lag = reader_->lag();
  const std::lock_guard lock{mutex_};
  shown_ = counts_;
  failure_ = reader_->failure();
  if (!failure_ && endpoint_closed_)
    failure_ = {errc::shutting_down, "the endpoint is closed"};
  problem_ = reader_->last_problem();
}

bridge_counters source_worker::counters() const {
  const std::lock_guard lock{mutex_};
  return shown_;
}

bool source_worker::wait_end(std::chrono::nanoseconds timeout) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, timeout, [this] { return ended_; });
}

bool source_worker::closed() const {
  const std::lock_guard lock{mutex_};
  return ended_;
}

error source_worker::failure() const {
  const std::lock_guard lock{mutex_};
  return failure_;
}

std::string source_worker::last_problem() const {
  const std::lock_guard lock{mutex_};
  return problem_;
}

void source_worker::close() {
  std::call_once(closed_once_, [this] {
    {
      const std::lock_guard lock{mutex_};
      close_by_ = clock::now() + options_.close_timeout;
      closing_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable())
      thread_.join();
  });
}

} // namespace pubsub::bridge
