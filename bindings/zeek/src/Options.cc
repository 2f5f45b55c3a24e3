// SPDX-License-Identifier: BSD-3-Clause
#include "Options.h"

#include <zeek/ID.h>
#include <zeek/Reporter.h>
#include <zeek/Val.h>

namespace pubsub_plugin {

namespace {

std::string full_name(std::string_view name) {
  return "Cluster::Backend::Pubsub::" + std::string{name};
}

const zeek::ValPtr& value_of(std::string_view name) {
  return zeek::id::find_val(full_name(name));
}

pubsub::overflow_policy overflow_option() {
  const auto label = label_option("overflow");
  if (label == "BLOCK")
    return pubsub::overflow_policy::block;
  if (label == "DROP_OLDEST")
    return pubsub::overflow_policy::drop_oldest;
  if (label == "DISCONNECT")
    return pubsub::overflow_policy::disconnect;
  return pubsub::overflow_policy::drop_newest;
}

core::log_transport transport_option() {
  const auto label = label_option("log_transport");
  if (label == "LOG_PIPELINE")
    return core::log_transport::pipeline;
  return label == "LOG_RECORDS" ? core::log_transport::records : core::log_transport::pool;
}

} // namespace

std::string text_option(std::string_view name) {
  return value_of(name)->AsStringVal()->ToStdString();
}

std::vector<std::string> texts_option(std::string_view name) {
  const auto* all = value_of(name)->AsVectorVal();
  std::vector<std::string> result;
  for (unsigned i = 0; i < all->Size(); ++i)
    result.push_back(all->StringValAt(i)->ToStdString());
  return result;
}

std::uint64_t count_option(std::string_view name) {
  return value_of(name)->AsCount();
}

bool flag_option(std::string_view name) {
  return value_of(name)->AsBool();
}

std::chrono::nanoseconds interval_option(std::string_view name) {
  const auto seconds = std::chrono::duration<double>{value_of(name)->AsInterval()};
  return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
}

std::string label_option(std::string_view name) {
  const auto& value = value_of(name);
  const std::string label = value->GetType()->AsEnumType()->Lookup(value->AsEnum());
  return label.substr(label.rfind(':') + 1);
}

core::member_options read_options() {
  core::member_options result;
  result.name = text_option("node_name");
  result.relay = flag_option("relay");
  result.tls.certificate = text_option("tls_certfile");
  result.tls.key = text_option("tls_keyfile");
  result.tls.passphrase = text_option("tls_passphrase");
  result.tls.ca_file = text_option("tls_cafile");
  result.inbound.capacity_messages = count_option("queue_messages");
  result.inbound.capacity_bytes = count_option("queue_bytes");
  result.link.policy = overflow_option();
  result.link.capacity_messages = count_option("link_messages");
  result.link.capacity_bytes = count_option("link_bytes");
  result.block_timeout = interval_option("block_timeout");
  result.liveness_timeout = interval_option("liveness_timeout");
  result.ready_timeout = interval_option("ready_timeout");
  result.io_threads = static_cast<unsigned>(count_option("io_threads"));
  result.logs = transport_option();
  result.log_backlog_bytes = count_option("log_backlog_bytes");
  result.log_ack_delay = interval_option("log_ack_delay");
  result.record_prefix = text_option("log_topic_prefix");
  result.nodeid_prefix = zeek::id::find_val("Cluster::nodeid_topic_prefix")
                             ->AsStringVal()
                             ->ToStdString();
  return result;
}

} // namespace pubsub_plugin
