// Records of Zeek's logs in messages and tasks, in each form in which they travel.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <pubsub/bridge/counters.hpp>
#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/zeek/log.hpp>
#include <pubsub/zeek/record_reader.hpp>

namespace pubsub::bridge {

/// A reason of `rejections`; null: none.
using rejection = std::uint64_t rejections::*;
/// As `by_reason` calls it.
std::string_view name_of(rejection why);

/// Reads events `log_<path>`, whose columns were announced before, and batches of a logger's
/// pipeline, which bring their own.
class record_source {
public:
  using take_record = std::function<void(const zeek::log_schema&, const vector&)>;

  /// Calls `take` for each record in the value. Why there is none, if there is none.
  rejection read(const data_view& value, const take_record& take);

private:
  rejection read_batch(std::span<const std::byte> bytes, const take_record& take);

  zeek::record_reader events_;
};

/// The value of a column; null where the log has none of this name, or it is unset.
const data* column_of(const zeek::log_schema& schema, const vector& values, std::string_view name);

} // namespace pubsub::bridge
