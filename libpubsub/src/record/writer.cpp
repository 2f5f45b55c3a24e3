// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/record/writer.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "record/numbered_files.hpp"
#include "record/output_file.hpp"
#include "record/packer.hpp"

namespace pubsub::record {

class writer::core {
public:
  core(std::string path, writer_options options)
      : options_(std::move(options)), packer_(options_.chunks),
        files_(std::move(path), options_.existing,
               options_.split_bytes > 0 || options_.split_time.count() > 0
                   ? numbering::always
                   : numbering::from_second),
        split_time_(static_cast<std::uint64_t>(options_.split_time.count())) {}

  expected<void> begin_file() {
    auto created = files_.next(options_.chunks.about);
    if (!created)
      return created.error();
    file_.emplace(std::move(*created));
    path_ = file_->path();
    ++totals_.files;
    totals_.file_bytes += file_->size_bytes();
    return {};
  }

  template <class Message>
  expected<void> write(const Message& msg, timestamp log_time) {
    if (closed_)
      return error{errc::cannot_write_file, path_ + ": the recording is closed"};
    if (auto ended = end_old_file(log_time); !ended)
      return ended;
    for (;;) {
      auto added = add(msg, log_time);
      if (!added)
        return added.error();
      if (*added == packer::outcome::added)
        break;
      if (auto written = write_chunk(); !written)
        return written;
    }
    ++totals_.messages;
    return packer_.full() ? write_chunk() : expected<void>{};
  }

  void note(const gap& missing, timestamp when) {
    packer_.note(missing, when);
    totals_.missing.missed += missing.missed;
    totals_.missing.dropped += missing.dropped;
  }

  expected<void> write_chunk() {
    if (!packer_.pending())
      return {};
    const auto chunk = packer_.seal();
    if (file_ && !file_->takes(chunk))
      if (auto ended = end_file(); !ended)
        return ended;
    if (!file_)
      if (auto begun = begin_file(); !begun)
        return begun;
    const auto before = file_->size_bytes();
    if (auto added = file_->add(chunk); !added)
      return added;
    totals_.file_bytes += file_->size_bytes() - before;
    totals_.chunks += chunk.messages > 0 ? 1 : 0;
    totals_.payload_bytes += chunk.payload_bytes;
    const bool enough = options_.split_bytes > 0 && file_->size_bytes() >= options_.split_bytes;
    return enough ? end_file() : expected<void>{};
  }

  expected<void> close() {
    if (std::exchange(closed_, true))
      return {};
    auto written = write_chunk();
    auto ended = file_ ? end_file() : expected<void>{};
    return written ? ended : written;
  }

  const record::totals& totals() const noexcept { return totals_; }
  const std::string& path() const noexcept { return path_; }

private:
  expected<packer::outcome> add(const data_message& msg, timestamp log_time) {
    return packer_.add(msg, log_time);
  }
  expected<packer::outcome> add(const message& msg, timestamp) { return packer_.add(msg); }

  // Where a message at this time belongs into the next file.
  expected<void> end_old_file(timestamp log_time) {
    if (split_time_ == 0)
      return {};
    const auto when = file_time(log_time);
    if (!first_time_)
      first_time_ = when;
    if (when < *first_time_ || when - *first_time_ < split_time_)
      return {};
    if (auto written = write_chunk(); !written)
      return written;
    auto ended = file_ ? end_file() : expected<void>{};
    first_time_ = when;
    return ended;
  }

  expected<void> end_file() {
    const auto before = file_->size_bytes();
    auto finished = file_->finish();
    totals_.file_bytes += file_->size_bytes() - before;
    file_.reset();
    first_time_.reset();
    return finished;
  }

  writer_options options_;
  packer packer_;
  numbered_files files_;
  std::optional<output_file> file_; // nothing: the next chunk begins one
  std::string path_;
  std::uint64_t split_time_; // nanoseconds
  std::optional<std::uint64_t> first_time_;
  record::totals totals_;
  bool closed_ = false;
};

expected<writer> writer::open(std::string path, writer_options options) {
  if (auto checked = check(options); !checked)
    return checked.error();
  auto made = std::make_unique<core>(std::move(path), std::move(options));
  if (auto begun = made->begin_file(); !begun)
    return begun.error();
  return writer{std::move(made)};
}

writer::writer(std::unique_ptr<core> state) : state_(std::move(state)) {}
writer::writer(writer&&) noexcept = default;
writer& writer::operator=(writer&&) noexcept = default;

writer::~writer() {
  if (state_)
    (void)state_->close();
}

expected<void> writer::write(const data_message& msg, timestamp log_time) {
  return state_->write(msg, log_time);
}

expected<void> writer::write(std::span<const data_message> messages, timestamp log_time) {
  for (const auto& msg : messages)
    if (auto written = state_->write(msg, log_time); !written)
      return written;
  return {};
}

expected<void> writer::write(const message& msg) {
  return state_->write(msg, msg.log_time);
}

void writer::note(const gap& missing, timestamp when) {
  state_->note(missing, when);
}

expected<void> writer::flush() {
  return state_->write_chunk();
}

expected<void> writer::close() {
  return state_->close();
}

const totals& writer::totals() const noexcept {
  return state_->totals();
}

const std::string& writer::path() const noexcept {
  return state_->path();
}

} // namespace pubsub::record
