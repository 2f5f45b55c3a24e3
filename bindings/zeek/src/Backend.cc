// SPDX-License-Identifier: BSD-3-Clause
#include "Backend.h"

#include <algorithm>
#include <utility>

#include <zeek/Event.h>
#include <zeek/ID.h>
#include <zeek/Reporter.h>
#include <zeek/Val.h>
#include <zeek/iosource/IOSource.h>
#include <zeek/iosource/Manager.h>
#include <zeek/telemetry/Manager.h>

#include "Options.h"
#include "RecordSerializer.h"

namespace pubsub_plugin {

namespace {

constexpr const char* backend_name = "PUBSUB";

zeek::EventHandlerPtr event_named(const char* name) {
  return zeek::event_registry->Register(std::string{"Cluster::Backend::Pubsub::"} + name);
}

core::formatted_bytes as_formatted(const std::string& format, const zeek::byte_buffer& bytes) {
  return {format, {bytes.data(), bytes.size()}};
}

} // namespace

/// Zeek's main loop deletes it some time after it was closed, and after its backend.
class Backend::Source final : public zeek::iosource::IOSource {
public:
  explicit Source(Backend& backend) : backend_(&backend) {}

  /// The loop does not look at descriptors in every round while there are packets.
  double GetNextTimeout() override {
    if (backend_ == nullptr)
      return -1.0;
    if (backend_->member_->has_events())
      return 0.0;
    const auto deadline = backend_->member_->deadline();
    if (!deadline)
      return -1.0;
    const std::chrono::duration<double> left = *deadline - core::member::clock::now();
    return std::max(left.count(), 0.0);
  }
  void Process() override {
    if (backend_ != nullptr)
      backend_->member_->process(backend_->max_at_once_);
  }
  const char* Tag() override { return "Cluster::Backend::Pubsub"; }

  void Close() {
    zeek::iosource_mgr->UnregisterFd(backend_->member_->fd(), this);
    backend_ = nullptr;
    SetClosed(true);
  }

private:
  Backend* backend_;
};

Backend::Backend(std::unique_ptr<zeek::cluster::EventSerializer> events,
                 std::unique_ptr<zeek::cluster::LogSerializer> logs, std::string log_format,
                 std::unique_ptr<zeek::cluster::detail::EventHandlingStrategy> strategy)
    : zeek::cluster::Backend(backend_name, std::move(events), std::move(logs),
                             std::move(strategy)),
      log_format_(std::move(log_format)), is_client_(log_format_.empty()) {}

Backend::~Backend() {
  DoTerminate();
}

std::unique_ptr<zeek::cluster::Backend>
Backend::Instantiate(std::unique_ptr<zeek::cluster::EventSerializer> events,
                     std::unique_ptr<zeek::cluster::LogSerializer> logs,
                     std::unique_ptr<zeek::cluster::detail::EventHandlingStrategy> strategy) {
  auto log_format = logs ? logs->Name() : std::string{};
  return std::make_unique<Backend>(std::move(events), std::move(logs), std::move(log_format),
                                   std::move(strategy));
}

Backend* Backend::OfThisProcess() {
  return dynamic_cast<Backend*>(zeek::cluster::backend);
}

// -- start and stop ------------------------------------------------------------------------------

void Backend::DoInitPostScript() {
  auto options = read_options();
  if (is_client_) {
    options.relay = false;
    options.io_threads = 0; // all of them share threads
  } else if ((options.logs == core::log_transport::records) !=
             (log_format_ == core::record_format)) {
    zeek::reporter->FatalError(
        "pubsub: Cluster::log_serializer = LOG_SERIALIZER_PUBSUB_RECORDS_V1 and log_transport = "
        "LOG_RECORDS go together: load frameworks/cluster/backend/pubsub/live-logs, or neither");
  }
  max_at_once_ = count_option("poll_max_messages");
  linger_ = interval_option("linger");
  on_ready_ = event_named("node_ready");
  on_lost_ = event_named("node_lost");
  on_link_ = event_named("link_failed");
  member_.emplace(std::move(options), static_cast<core::member_handler&>(*this));
}

bool Backend::DoInit() {
  const auto place = Place();
  const auto started = place ? member_->start(*place) : pubsub::expected<void>{place.error()};
  if (!started) {
    zeek::reporter->Error("pubsub: %s", started.error().message().c_str());
    return false;
  }
  source_ = new Source(*this);
  zeek::iosource_mgr->Register(source_, is_client_);
  if (!zeek::iosource_mgr->RegisterFd(member_->fd(), source_))
    return false;
  if (!is_client_)
    RegisterMetrics();
  return true;
}

/// A WebSocket client connects to what its Zeek process listens on, or else to where that connects.
pubsub::expected<core::member_place> Backend::Place() {
  core::member_place result;
  if (!is_client_) {
    result.listen = texts_option("listen");
    result.connect = texts_option("connect");
    result.writes_logs = flag_option("writes_logs");
    return result;
  }
  auto* server = OfThisProcess();
  if (server == nullptr || !server->member_)
    return pubsub::error{pubsub::errc::shutting_down, "the backend of this process has ended"};
  auto addresses = server->member_->addresses_for_own_clients();
  if (!addresses)
    return addresses.error();
  result.connect = std::move(*addresses);
  return result;
}

void Backend::DoTerminate() {
  if (source_ != nullptr)
    std::exchange(source_, nullptr)->Close();
  if (member_)
    member_->stop(linger_);
}

// -- what goes -----------------------------------------------------------------------------------

bool Backend::DoPublishEvent(const std::string& topic, const std::string& format,
                             const zeek::byte_buffer& buf) {
  return member_->publish(topic, as_formatted(format, buf));
}

bool Backend::DoPublishLogWrites(const zeek::logging::detail::LogWriteHeader&,
                                 const std::string& format, zeek::byte_buffer& buf) {
  return member_->publish_logs(as_formatted(format, buf));
}

bool Backend::DoSubscribe(const std::string& topic_prefix, SubscribeCallback cb) {
  if (!cb) {
    member_->subscribe(topic_prefix);
    return true;
  }
  member_->subscribe(topic_prefix, [cb = std::move(cb), topic_prefix](const std::string& failure) {
    if (failure.empty())
      cb(topic_prefix, {CallbackStatus::Success, std::nullopt});
    else
      cb(topic_prefix, {CallbackStatus::Error, failure});
  });
  return true;
}

bool Backend::DoUnsubscribe(const std::string& topic_prefix) {
  member_->unsubscribe(topic_prefix);
  return true;
}

void Backend::DoReadyToPublishCallback(ReadyCallback cb) {
  member_->when_ready_to_publish([cb = std::move(cb)](const std::string& failure) {
    if (failure.empty())
      cb({CallbackStatus::Success, std::nullopt});
    else
      cb({CallbackStatus::Error, failure});
  });
}

// -- what comes ----------------------------------------------------------------------------------

void Backend::event(std::string_view topic, const core::formatted_bytes& what) {
  ProcessEventMessage(topic, what.format, what.bytes);
}

void Backend::log_batch(const core::formatted_bytes& what) {
  ProcessLogMessage(what.format, what.bytes);
}

void Backend::node_ready(std::string_view id) {
  Enqueue(on_ready_, id);
}

void Backend::node_lost(std::string_view id) {
  Enqueue(on_lost_, id);
}

void Backend::link_failed(std::string_view what) {
  Enqueue(on_link_, what);
}

void Backend::Enqueue(zeek::EventHandlerPtr handler, std::string_view text) {
  if (handler)
    EnqueueEvent(handler, {zeek::make_intrusive<zeek::StringVal>(text)});
}

// -- telemetry -----------------------------------------------------------------------------------

void Backend::RegisterMetrics() {
  using count = std::uint64_t;
  const auto add = [](std::string_view name, std::string_view label, std::string_view value,
                      std::string_view help, auto read) {
    const auto collect = [read]() -> double {
      auto* member = OfThisProcess() != nullptr ? OfThisProcess()->Member() : nullptr;
      return member != nullptr ? static_cast<double>(read(*member)) : 0.0;
    };
    if (label.empty())
      zeek::telemetry_mgr->CounterInstance("zeek", name, {}, help, "", collect);
    else
      zeek::telemetry_mgr->CounterInstance("zeek", name, {{label, value}}, help, "", collect);
  };
  const auto event = [&](std::string_view result, count core::event_counters::*which) {
    add("cluster_pubsub_events_published", "result", result,
        "Events that this node published, by what became of them.",
        [which](const core::member& from) { return from.events().*which; });
  };
  event("taken", &core::event_counters::published);
  event("dropped", &core::event_counters::dropped);
  event("would_block", &core::event_counters::would_block);
  event("refused", &core::event_counters::refused);
  add("cluster_pubsub_events_received", "", "", "Events that came from other nodes.",
      [](const core::member& from) { return from.events().received; });
  add("cluster_pubsub_events_rejected", "", "", "Messages that came and are no events.",
      [](const core::member& from) { return from.events().no_event; });
  const auto log = [&](std::string_view result, count core::log_counters::*which) {
    add("cluster_pubsub_log_batches", "result", result,
        "Batches of log records (records, where each is published), by what became of them.",
        [which](const core::member& from) { return from.logs().*which; });
  };
  log("sent", &core::log_counters::taken);
  log("dropped", &core::log_counters::dropped);
  log("received", &core::log_counters::received);
  log("malformed", &core::log_counters::malformed);
  const auto link = [&](std::string_view name, std::string_view help,
                        count (*read)(const pubsub::endpoint_counters&)) {
    add(name, "", "", help,
        [read](const core::member& from) { return read(from.node().counters()); });
  };
  link("cluster_pubsub_link_drops", "Messages that full queues of links, or lost links, dropped.",
       [](const pubsub::endpoint_counters& x) { return x.links.dropped(); });
  link("cluster_pubsub_forwarded", "Messages passed on between other nodes.",
       [](const pubsub::endpoint_counters& x) { return x.forwarded; });
  link("cluster_pubsub_bytes_sent", "Bytes written to links.",
       [](const pubsub::endpoint_counters& x) { return x.links.bytes_sent; });
  link("cluster_pubsub_bytes_received", "Bytes read from links.",
       [](const pubsub::endpoint_counters& x) { return x.links.bytes_received; });
}

} // namespace pubsub_plugin
