// The fields of a message that is a vector, as field_reader reads them.
#pragma once

#include <cstdint>
#include <vector>

#include <pubsub/data_writer.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/sequence_ranges.hpp"

namespace pubsub::pattern {

inline void write_id(data_writer& out, const endpoint_id& id) {
  out.write_string({reinterpret_cast<const char*>(id.bytes().data()), id.bytes().size()});
}

inline void write_runs(data_writer& out, const std::vector<sequence_range>& runs) {
  out.begin_vector(2 * runs.size());
  for (const auto& each : runs) {
    out.write_count(each.first);
    out.write_count(each.count);
  }
}

} // namespace pubsub::pattern
