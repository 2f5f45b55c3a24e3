// Which key a record gets, and so which partition of Kafka.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::bridge {

class key_rule {
public:
  /// `origin`, `topic`, `none`, `community_id` or `field:NAME`. Errors: invalid_argument.
  static expected<key_rule> parse(std::string_view text);

  /// Whether only a record of a log has such a key.
  bool needs_record() const noexcept { return what_ == kind::field || what_ == kind::community_id; }
  /// The key of a message; only where it does not need a record.
  void add_key(std::string& out, std::string_view origin, std::string_view topic) const;
  /// The key of a record; false where it lacks what that needs.
  bool add_key(std::string& out, const zeek::log_schema& schema, const vector& values) const;

private:
  enum class kind : unsigned char { origin, topic, none, field, community_id };

  kind what_ = kind::origin;
  std::string field_;
};

} // namespace pubsub::bridge
