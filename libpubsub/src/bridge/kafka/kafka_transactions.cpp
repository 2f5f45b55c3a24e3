// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/kafka/kafka_transactions.hpp"

#include <utility>

namespace pubsub::bridge {

namespace {

constexpr std::size_t most_records = 10'000;
constexpr std::size_t most_bytes = std::size_t{32} << 20U;
constexpr std::chrono::milliseconds longest_open{100};
constexpr std::chrono::milliseconds patience{500}; // of a call that asks the brokers
constexpr std::chrono::milliseconds before_next_try{200};
// The report of a position is for no record.
constexpr std::uint64_t no_number = ~std::uint64_t{0};

} // namespace

kafka_transactions::~kafka_transactions() {
  if (stage_ == stage::open || stage_ == stage::committing || stage_ == stage::aborting)
    kafka_error{rd_kafka_abort_transaction(to_->client(), static_cast<int>(patience.count()))};
}

bool kafka_transactions::write(engine_record& what) {
  if (batch_.size() >= most_records || batch_bytes_ >= most_bytes || !open_transaction())
    return false;
  const bool again = is_in_transaction(what);
  if (!again && !to_->produce(what))
    return false;
  batch_bytes_ += what.payload.size();
  if (!again && what.from.sequence)
    reached_.insert_or_assign(std::string{what.from.origin},
                              reached{*what.from.sequence, what.number});
  batch_.push_back({std::move(what), again});
  return true;
}

/// A task comes twice where an exchange has lost sight of this queue. It may become several
/// records: those are of one item.
bool kafka_transactions::is_in_transaction(const engine_record& what) const {
  const auto& task = what.from;
  const auto known = reached_.find(task.origin.view());
  return known != reached_.end() && task.sequence &&
         (*task.sequence < known->second.sequence ||
          (*task.sequence == known->second.sequence && what.number != known->second.number));
}

bool kafka_transactions::is_there(std::string_view origin, std::uint64_t sequence) {
  const auto known = positions_.find(origin);
  return known != positions_.end() && sequence <= known->second;
}

bool kafka_transactions::open_transaction() {
  if (stage_ == stage::open)
    return true;
  if (stage_ != stage::ready || !proceed(rd_kafka_begin_transaction(to_->client())))
    return false;
  stage_ = stage::open;
  commit_at_ = clock::now() + longest_open;
  return true;
}

void kafka_transactions::poll(const settle_record& settle) {
  take_reports();
  const auto now = clock::now();
  if (failure() || now < again_at_)
    return;
  if (stage_ == stage::unknown)
    begin();
  if (stage_ == stage::alone)
    learn_positions();
  const bool full = batch_.size() >= most_records || batch_bytes_ >= most_bytes;
  if (stage_ == stage::open && !batch_.empty() && (full || hurried_ || now >= commit_at_))
    stage_ = stage::committing;
  hurried_ = false;
  if (stage_ == stage::committing)
    commit(settle);
  if (stage_ == stage::aborting)
    abort();
}

kafka_transactions::clock::time_point kafka_transactions::due() const {
  if (stage_ == stage::open && !batch_.empty())
    return std::max(commit_at_, again_at_);
  return stage_ == stage::ready || stage_ == stage::open ? clock::time_point::max() : again_at_;
}

error kafka_transactions::failure() const {
  return failure_ ? failure_ : to_->failure();
}

/// Ends what an earlier writer of this id has begun.
void kafka_transactions::begin() {
  const auto limit = static_cast<int>(patience.count());
  if (proceed(rd_kafka_init_transactions(to_->client(), limit)))
    stage_ = stage::alone;
}

/// How far earlier writers have come.
void kafka_transactions::learn_positions() {
  auto known = read_positions(options_, 10 * patience);
  if (known && !*known)
    make_positions_topic(to_->client(), options_.positions);
  if (!known || !*known) {
    if (!known)
      to_->note_problem(known.error().context());
    again_at_ = clock::now() + before_next_try;
    return;
  }
  positions_ = std::move(**known);
  stage_ = stage::ready;
}

void kafka_transactions::write_positions() {
  for (const auto& [origin, last] : reached_) {
    const engine_record position{
        options_.positions, origin, std::to_string(last.sequence), {}, no_number};
    while (!to_->produce(position))
      rd_kafka_poll(to_->client(), 10); // the queue is full: it empties while this waits
  }
  positions_written_ = true;
}

void kafka_transactions::commit(const settle_record& settle) {
  if (!positions_written_)
    write_positions();
  const auto limit = static_cast<int>(patience.count());
  if (!proceed(rd_kafka_commit_transaction(to_->client(), limit)))
    return;
  take_reports();
  settle_batch(settle);
}

void kafka_transactions::settle_batch(const settle_record& settle) {
  stage_ = stage::ready;
  positions_written_ = false;
  batch_bytes_ = 0;
  commit_at_ = clock::time_point::max();
  for (const auto& [origin, last] : std::exchange(reached_, {}))
    positions_.insert_or_assign(origin, last.sequence);
  for (const auto& each : std::exchange(batch_, {}))
    settle(each.what.number,
           each.refused == RD_KAFKA_RESP_ERR_NO_ERROR ? outcome::written : outcome::refused,
           each.what.payload.size(), rd_kafka_err2str(each.refused));
}

void kafka_transactions::abort() {
  const auto limit = static_cast<int>(patience.count());
  if (!proceed(rd_kafka_abort_transaction(to_->client(), limit)))
    return;
  take_reports(); // of what the abort has thrown away
  stage_ = stage::ready;
  positions_written_ = false;
  write_again();
}

/// What is refused for good stays in the batch, to be settled with it.
void kafka_transactions::write_again() {
  if (!open_transaction())
    return;
  for (const auto& each : batch_)
    while (!each.again && each.refused == RD_KAFKA_RESP_ERR_NO_ERROR && !to_->produce(each.what))
      rd_kafka_poll(to_->client(), 10);
}

void kafka_transactions::take_reports() {
  for (const auto& report : to_->reports())
    if (outcome_of(report.error) == outcome::refused)
      for (auto& each : batch_)
        if (each.what.number == report.number)
          each.refused = report.error;
}

/// Whether the call has done what it should; if not, what is to be done next.
bool kafka_transactions::proceed(rd_kafka_error_t* result) {
  const kafka_error failed{result};
  if (failed == nullptr)
    return true;
  to_->note_problem(rd_kafka_error_string(failed.get()));
  if (rd_kafka_error_is_fatal(failed.get()))
    failure_ = {errc::operation_failed,
                std::string{"kafka: "} + rd_kafka_error_string(failed.get())};
  else if (rd_kafka_error_txn_requires_abort(failed.get()))
    stage_ = stage::aborting;
  else if (!rd_kafka_error_is_retriable(failed.get()))
    failure_ = {errc::operation_failed,
                std::string{"kafka: "} + rd_kafka_error_string(failed.get())};
  again_at_ = clock::now() + before_next_try;
  return false;
}

} // namespace pubsub::bridge
