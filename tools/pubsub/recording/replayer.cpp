// SPDX-License-Identifier: BSD-3-Clause
#include "recording/replayer.hpp"

#include "recording/moments.hpp"

#include <fmt/format.h>

#include <pubsub/binary.hpp>

namespace pubsub::tool {

bool replayer::run_once() {
  first_.reset();
  for (const auto& file : plan_.files)
    if (!replay(file.path))
      return false;
  return true;
}

bool replayer::replay(const std::string& path) {
  auto reader = record::reader::open(path, plan_.which);
  if (!reader) {
    fail(reader.error());
    failed_ = true;
    return false;
  }
  for (;;) {
    const auto msg = reader->next();
    if (!msg) {
      skipped_.add(msg.error());
      if (msg.error() == errc::cannot_open_file) { // the disk does not give it
        failed_ = true;
        return false;
      }
      continue;
    }
    if (!*msg)
      return true;
    if (!wait_for_turn((*msg)->log_time))
      return false;
    publish(**msg);
  }
}

// By the clock and not by pauses, so that what comes late does not make all that follows late.
bool replayer::wait_for_turn(timestamp recorded) {
  if (!first_) {
    first_ = recorded;
    begin_ = clock::now();
    next_line_ = begin_ + std::chrono::seconds{1};
  }
  if (plan_.rate) {
    const std::chrono::duration<double, std::nano> since{
        static_cast<double>((recorded - *first_).count()) / *plan_.rate};
    const auto turn = begin_ + std::chrono::duration_cast<clock::duration>(since);
    if (turn > clock::now() && wait_readable(-1, stop_, turn) == wake::stopped)
      return false;
  }
  constexpr std::uint64_t look_each = 256;
  if (messages_ % look_each == 0) {
    if (stop_.requested())
      return false;
    show_progress();
  }
  return true;
}

void replayer::publish(const record::message& msg) {
  ++messages_;
  if (msg.encoding == record::binary_encoding) {
    const auto value = record::view_of(msg);
    if (value)
      publish(msg.topic, msg.payload);
    else
      skipped_.add(value.error());
    return;
  }
  const auto value = record::value_of(msg);
  const auto bytes = value ? encode_binary(*value) : value.error();
  if (bytes)
    publish(msg.topic, *bytes);
  else
    skipped_.add(bytes.error());
}

// One thread's messages stay in order, whatever their topics.
void replayer::publish(std::string_view topic, std::span<const std::byte> value) {
  if (where_ && !where_->wants(topic, value)) {
    ++filtered_;
    return;
  }
  ++results_[static_cast<std::size_t>(ep_.publish(topic, value))];
}

void replayer::show_progress() {
  if (!stderr_is_terminal() || clock::now() < next_line_)
    return;
  next_line_ = clock::now() + std::chrono::seconds{1};
  fmt::print(stderr, "{} messages\n", grouped(messages_));
}

} // namespace pubsub::tool
