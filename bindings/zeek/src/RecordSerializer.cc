// SPDX-License-Identifier: BSD-3-Clause
#include "RecordSerializer.h"

#include <cmath>
#include <cstring>

#include <zeek/Reporter.h>
#include <zeek/Type.h>
#include <zeek/Val.h>
#include <zeek/logging/Types.h>

#include <pubsub/data_writer.hpp>

#include "record_feed.hpp"

namespace pubsub_plugin {

namespace {

namespace core = pubsub::zeek::backend;
using zeek::threading::Value;

pubsub::address as_address(const Value::addr_t& x) {
  if (x.family == IPv4)
    return pubsub::address::v4(ntohl(x.in.in4.s_addr));
  pubsub::address::bytes_type raw;
  std::memcpy(raw.data(), &x.in.in6, raw.size());
  return pubsub::address{raw};
}

/// Whole seconds and their rest are each exact in a double; their product with 10^9 would not be.
pubsub::timespan as_timespan(double seconds) {
  const auto whole = std::floor(seconds);
  return pubsub::timespan{static_cast<std::int64_t>(whole) * 1'000'000'000 +
                          static_cast<std::int64_t>(std::round((seconds - whole) * 1e9))};
}

std::string_view as_text(const Value& x) {
  return {x.val.string_val.data, static_cast<std::size_t>(x.val.string_val.length)};
}

bool write_value(pubsub::data_writer& to, const Value& x);

/// The members of a set stay in Zeek's order, so that a program that writes them down writes what
/// Zeek would have written.
bool write_members(pubsub::data_writer& to, const Value::set_t& members) {
  bool all = true;
  for (zeek_int_t i = 0; i < members.size; ++i)
    all = write_value(to, *members.vals[i]) && all;
  return all;
}

/// False for types that logs do not have.
bool write_value(pubsub::data_writer& to, const Value& x) {
  if (!x.present) {
    to.write_none();
    return true;
  }
  switch (x.type) {
  case zeek::TYPE_BOOL:
    to.write_boolean(x.val.int_val != 0);
    return true;
  case zeek::TYPE_INT:
    to.write_integer(x.val.int_val);
    return true;
  case zeek::TYPE_COUNT:
    to.write_count(x.val.uint_val);
    return true;
  case zeek::TYPE_DOUBLE:
    to.write_real(x.val.double_val);
    return true;
  case zeek::TYPE_TIME:
    to.write_timestamp(pubsub::timestamp{as_timespan(x.val.double_val)});
    return true;
  case zeek::TYPE_INTERVAL:
    to.write_timespan(as_timespan(x.val.double_val));
    return true;
  case zeek::TYPE_STRING:
  case zeek::TYPE_FILE:
  case zeek::TYPE_FUNC:
    to.write_string(as_text(x));
    return true;
  case zeek::TYPE_PATTERN:
    to.write_string(x.val.pattern_text_val);
    return true;
  case zeek::TYPE_ENUM:
    to.write_enum(as_text(x));
    return true;
  case zeek::TYPE_PORT:
    to.write_port(pubsub::port{static_cast<std::uint16_t>(x.val.port_val.port),
                               static_cast<pubsub::transport>(x.val.port_val.proto)});
    return true;
  case zeek::TYPE_ADDR:
    to.write_address(as_address(x.val.addr_val));
    return true;
  case zeek::TYPE_SUBNET:
    to.write_subnet(
        pubsub::subnet::from_raw(as_address(x.val.subnet_val.prefix), x.val.subnet_val.length));
    return true;
  case zeek::TYPE_TABLE:
    to.begin_set(static_cast<std::size_t>(x.val.set_val.size));
    return write_members(to, x.val.set_val);
  case zeek::TYPE_VECTOR:
    to.begin_vector(static_cast<std::size_t>(x.val.vector_val.size));
    return write_members(to, x.val.vector_val);
  default:
    to.write_none();
    return false;
  }
}

void write_column(pubsub::data_writer& to, const zeek::threading::Field& x) {
  to.begin_vector(2);
  to.write_string(x.name);
  to.write_string(x.TypeName());
}

} // namespace

RecordSerializer::RecordSerializer() : LogSerializer(std::string{core::record_format}) {}

std::unique_ptr<zeek::cluster::LogSerializer> RecordSerializer::Instantiate() {
  return std::make_unique<RecordSerializer>();
}

bool RecordSerializer::SerializeLogWrite(zeek::byte_buffer& buf,
                                         const zeek::logging::detail::LogWriteHeader& header,
                                         std::span<zeek::logging::detail::LogRecord> records) {
  pubsub::data_writer to;
  to.begin_vector(core::record_batch_parts);
  to.write_string(header.stream_name);
  to.write_string(header.writer_name);
  to.write_string(header.filter_name);
  to.write_string(header.path);
  to.begin_vector(header.fields.size());
  for (const auto& each : header.fields)
    write_column(to, each);
  to.begin_vector(records.size());
  for (const auto& record : records) {
    to.begin_vector(record.size());
    for (std::size_t column = 0; column < record.size(); ++column)
      if (!write_value(to, record[column])) {
        zeek::reporter->Error("pubsub: column %zu of log %s has a type that is not supported",
                              column, header.path.c_str());
        return false;
      }
  }
  buf = to.take();
  return true;
}

std::optional<zeek::logging::detail::LogWriteBatch>
RecordSerializer::UnserializeLogWrite(zeek::byte_buffer_span) {
  zeek::reporter->Error("pubsub: records that are published one by one are not for loggers");
  return std::nullopt;
}

} // namespace pubsub_plugin
