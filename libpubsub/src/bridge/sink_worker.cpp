// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/sink_worker.hpp"

#include <algorithm>
#include <utility>

#include "bridge/engines.hpp"

namespace pubsub::bridge {

namespace {

constexpr std::size_t items_at_once = 1'024;

} // namespace

expected<std::shared_ptr<sink_worker>> sink_worker::start(const endpoint& at, const engine& to,
                                                          const sink_options& options) {
  if (auto ok = check(options, to); !ok)
    return ok.error();
  auto writer = make_writer(to);
  if (!writer)
    return writer.error();
  auto* const names = writer->get();
  auto mapper = message_mapper::make(
      options, [names](std::string_view name) { return names->usable_name(name); });
  if (!mapper)
    return mapper.error();
  auto shared = at.share();
  auto input = sink_input::open(
      *shared, options, writes_in_order(to) ? task_order::by_number : task_order::as_they_come);
  if (!input)
    return input.error();
  auto result = std::make_shared<sink_worker>(std::move(shared), std::move(*writer),
                                              std::move(*mapper), std::move(*input), options);
  result->thread_ = std::thread{[worker = result.get()] { worker->run(); }};
  return result;
}

sink_worker::sink_worker(std::shared_ptr<endpoint> at, std::unique_ptr<engine_writer> writer,
                         message_mapper mapper, sink_input input, const sink_options& options)
    : endpoint_(std::move(at)), close_timeout_(options.close_timeout),
      has_dead_letters_(!options.dead_letters.empty()), input_(std::move(input)),
      writer_(std::move(writer)), mapper_(std::move(mapper)) {}

sink_worker::~sink_worker() {
  close();
}

void sink_worker::run() {
  while (!has_ended()) {
    write_waiting();
    const bool took = take();
    write_waiting();
    settle();
    show();
    if (!took)
      wait();
  }
  input_.close();
  const std::lock_guard lock{mutex_};
  ended_ = true;
  changed_.notify_all();
}

bool sink_worker::take() {
  if (input_ended_ || closing_ || has_waiting())
    return false;
  items_.clear();
  const auto status = input_.take(items_, items_at_once);
  input_ended_ = status == receive_status::closed;
  for (auto& each : items_)
    map(ledger_.add(std::move(each)));
  return status == receive_status::received;
}

void sink_worker::map(std::uint64_t number) {
  const auto& item = ledger_.item(number);
  const auto& from = item.from();
  const bool known =
      item.is_task() && from.sequence && writer_->is_there(from.origin, *from.sequence);
  const auto before = waiting_.size();
  const auto why = known           ? &rejections::already_there
                   : item.is_own() ? &rejections::returned
                                   : mapper_.map(from, item.value(), waiting_);
  for (auto i = before; i < waiting_.size(); ++i)
    waiting_[i].number = number;
  ledger_.expect(number, waiting_.size() - before);
  if (why != nullptr)
    give_up(number, why);
}

void sink_worker::give_up(std::uint64_t number, rejection why) {
  const bool no_loss = why == &rejections::announcements || why == &rejections::already_there ||
                       why == &rejections::returned;
  if (no_loss || !has_dead_letters_) {
    ledger_.reject(number, why);
    return;
  }
  ledger_.expect_dead_letter(number, why);
  const auto& item = ledger_.item(number);
  waiting_.push_back(mapper_.dead_letter(item.from(), item.value(), name_of(why)));
  waiting_.back().number = number;
}

void sink_worker::write_waiting() {
  if (!has_waiting())
    return;
  written_ += writer_->write_all(std::span{waiting_}.subspan(written_));
  if (has_waiting())
    return;
  waiting_.clear();
  written_ = 0;
}

void sink_worker::settle() {
  writer_->poll([this](std::uint64_t number, outcome what, std::size_t bytes, std::string_view) {
    if (const auto why = ledger_.settle(number, what, bytes); why != nullptr)
      give_up(number, why);
  });
  ledger_.publish();
}

bool sink_worker::has_ended() {
  if (writer_->failure())
    return true;
  const std::lock_guard lock{mutex_};
  return (closing_ || input_ended_) && (ledger_.empty() || clock::now() >= close_by_);
}

/// What other threads may see of it.
void sink_worker::show() {
  const std::lock_guard lock{mutex_};
  failure_ = writer_->failure();
  problem_ = writer_->last_problem();
  if (input_ended_ && close_by_ == clock::time_point::max())
    close_by_ = clock::now() + close_timeout_;
  if (drain_marks_set_ < drain_marks_wanted_) {
    drain_target_ = ledger_.next_number() + input_.available();
    drain_marks_set_ = drain_marks_wanted_;
  }
  changed_.notify_all();
}

void sink_worker::wait() {
  if (hurried_ && !has_waiting())
    writer_->hurry();
  const bool takes = !input_ended_ && !closing_ && !has_waiting();
  const int fds[] = {writer_->fd(), takes ? input_.fd() : -1};
  wake_.wait(fds, writer_->due());
}

std::size_t sink_worker::left_below(std::uint64_t target) const {
  const auto settled = ledger_.settled_below();
  return settled < target ? static_cast<std::size_t>(target - settled) : 0;
}

std::size_t sink_worker::drain(std::chrono::nanoseconds timeout) {
  const auto until =
      clock::now() + std::min(timeout, std::chrono::nanoseconds{std::chrono::hours{24 * 365}});
  hurried_ = true;
  std::unique_lock lock{mutex_};
  const auto mark = ++drain_marks_wanted_;
  wake_.raise();
  changed_.wait_until(lock, until, [&] {
    return ended_ || (drain_marks_set_ >= mark && left_below(drain_target_) == 0);
  });
  const auto target = drain_marks_set_ >= mark ? drain_target_ : ledger_.settled_below() + 1;
  hurried_ = false;
  return left_below(target);
}

bool sink_worker::closed() const {
  const std::lock_guard lock{mutex_};
  return ended_;
}

error sink_worker::failure() const {
  const std::lock_guard lock{mutex_};
  return failure_;
}

std::string sink_worker::last_problem() const {
  const std::lock_guard lock{mutex_};
  return problem_;
}

void sink_worker::close() {
  std::call_once(closed_once_, [this] {
    {
      const std::lock_guard lock{mutex_};
      close_by_ = std::min(close_by_, clock::now() + close_timeout_);
    }
    hurried_ = true;
    closing_ = true;
    wake_.raise();
    if (thread_.joinable())
      thread_.join();
  });
}

} // namespace pubsub::bridge
