// From a message or a task to what an engine is to keep.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pubsub/bridge/sink.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/zeek/log_lines.hpp>

#include "bridge/engine/engine_record.hpp"
#include "bridge/mapping/avro_record.hpp"
#include "bridge/mapping/key_rule.hpp"
#include "bridge/mapping/name_template.hpp"
#include "bridge/mapping/record_source.hpp"

namespace pubsub::bridge {

class message_mapper {
public:
  /// What the engine makes of a name; empty: it cannot be used.
  using usable_name = std::function<std::string(std::string_view)>;

  /// Errors: invalid_argument; the context names the option.
  static expected<message_mapper> make(const sink_options& options, usable_name names);

  /// Appends what is to be written: one record, or as many as a batch holds. Why nothing was
  /// appended, if something keeps it from being written. A payload that is the value itself is lent
  /// by the item that keeps the value.
  rejection map(const provenance& from, const data_view& value, std::vector<engine_record>& out);
  /// The dead letter of what was not written; the value is lent.
  engine_record dead_letter(const provenance& from, const data_view& value,
                            std::string_view reason) const;

private:
  enum variable : std::size_t { topic, path, event };

  message_mapper(const sink_options& options, usable_name names, name_template to, key_rule key);

  bool needs_record() const noexcept {
    return format_ == payload_format::zeek_json || format_ == payload_format::avro ||
           key_.needs_record() || to_.uses(path);
  }
  rejection map_value(const provenance& from, const data_view& value,
                      std::vector<engine_record>& out);
  rejection map_records(const provenance& from, const data_view& value,
                        std::vector<engine_record>& out);
  void describe(provenance& out, const provenance& from, std::uint64_t part) const;
  record_payload payload_of(const data_view& value) const;
  /// Nothing where the format cannot hold the record.
  std::optional<std::string> text_of(const zeek::log_schema& schema, const vector& values);
  const shared_text& name_for(std::string_view topic, std::string_view path,
                              std::string_view event);

  payload_format format_;
  bool headers_;
  shared_text network_;
  shared_text dead_letters_;
  usable_name usable_name_;
  name_template to_;
  key_rule key_;
  record_source records_;
  std::unique_ptr<zeek::log_lines> lines_;
  avro_writer avro_;
  std::string wanted_name_;
  std::unordered_map<std::string, shared_text> names_; // as wanted, as the engine allows it
  std::string last_wanted_name_;                       // empty: none
  shared_text last_name_;
};

} // namespace pubsub::bridge
