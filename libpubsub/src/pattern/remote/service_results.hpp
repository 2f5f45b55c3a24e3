// Runs handlers and collects what they return, for one reply. Pure but for the handlers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <pubsub/data_writer.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/remote.hpp>

#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/service_queue.hpp"
#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

struct service_operation {
  writing_handler handler;
  bool idempotent = false;
};

/// When a worker looks up from its work.
struct service_pace {
  std::chrono::nanoseconds long_operation = tuning::long_operation; ///< others may be cancelled
  std::chrono::nanoseconds to_collect = tuning::time_to_collect;    ///< results, before they go
};

/// Of one client and one of its streams at a time. A worker's own.
class service_results {
public:
  using time = std::chrono::steady_clock::time_point;

  service_results(std::string_view service_name, const endpoint_id& instance,
                  std::size_t max_result_bytes, const service_pace& pace = {})
      : service_name_(service_name), instance_(instance), max_result_bytes_(max_result_bytes),
        pace_(pace) {}

  /// Results of this work can go with those that are here.
  bool goes_with(const service_work& work) const noexcept {
    return empty() || (to_ == work.to && head_.stream == work.stream);
  }
  /// Does operations until all are done, one was long or a reply is due. Where it stopped the work
  /// goes on.
  void run(service_work& work);
  bool is_due() const noexcept { return due_; }
  bool empty() const noexcept { return places_.size() == 0; }
  std::size_t size() const noexcept { return places_.size(); }
  std::size_t failed() const noexcept { return failed_.size(); }
  std::size_t cancelled() const noexcept { return cancelled_; }
  const std::shared_ptr<reply_outbox>& to() const noexcept { return to_; }
  /// Stays when they are cleared.
  const endpoint_id& client() const noexcept { return client_; }

  /// One reply with all results.
  void write(data_writer& out);
  /// One reply for each result; where `send` is false for one, another that says that it is too
  /// long.
  void write_singly(const std::function<bool(const data_writer& reply)>& send) const;
  void clear();

private:
  void run_one(const service_work& work, const data_view& argument);
  error call(const service_operation& what, const data_view& argument);
  void fail(const error& why);

  const std::string service_name_;
  const endpoint_id instance_;
  const std::size_t max_result_bytes_;
  const service_pace pace_;
  endpoint_id client_;
  std::shared_ptr<reply_outbox> to_;
  service_reply<value_list> head_; // without what follows
  sequence_list places_, failed_;
  data_writer results_;
  std::size_t cancelled_ = 0;
  time begun_{};
  time arrived_{}; // what is at the last place
  bool due_ = false;
};

} // namespace pubsub::pattern
