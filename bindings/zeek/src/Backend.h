// Zeek's interface of cluster backends, over a member of the network.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <zeek/EventHandler.h>
#include <zeek/cluster/Backend.h>
#include <zeek/cluster/Serializer.h>

#include "member.hpp"

namespace pubsub_plugin {

namespace core = pubsub::zeek::backend;

/// One for the Zeek process, and one for each WebSocket client of it: those are clients of the
/// network, and have no logs. What comes is handed over in Zeek's main loop, which watches the
/// member's descriptor: there is no thread and no queue between the network's and the loop.
class Backend final : public zeek::cluster::Backend, private core::member_handler {
public:
  /// `log_format`: the name of what `logs` writes; empty without it.
  Backend(std::unique_ptr<zeek::cluster::EventSerializer> events,
          std::unique_ptr<zeek::cluster::LogSerializer> logs, std::string log_format,
          std::unique_ptr<zeek::cluster::detail::EventHandlingStrategy> strategy);
  ~Backend() override;

  static std::unique_ptr<zeek::cluster::Backend>
  Instantiate(std::unique_ptr<zeek::cluster::EventSerializer> events,
              std::unique_ptr<zeek::cluster::LogSerializer> logs,
              std::unique_ptr<zeek::cluster::detail::EventHandlingStrategy> strategy);
  /// That of the Zeek process; null where it has another backend.
  static Backend* OfThisProcess();

  /// Null after termination.
  core::member* Member() noexcept { return member_ ? &*member_ : nullptr; }
  /// The id in the network, as text.
  std::string EndpointId() const { return member_ ? to_string(member_->id()) : std::string{}; }

private:
  class Source;

  void DoInitPostScript() override;
  bool DoInit() override;
  void DoTerminate() override;
  bool DoPublishEvent(const std::string& topic, const std::string& format,
                      const zeek::byte_buffer& buf) override;
  bool DoSubscribe(const std::string& topic_prefix, SubscribeCallback cb) override;
  bool DoUnsubscribe(const std::string& topic_prefix) override;
  void DoReadyToPublishCallback(ReadyCallback cb) override;
  bool DoPublishLogWrites(const zeek::logging::detail::LogWriteHeader& header,
                          const std::string& format, zeek::byte_buffer& buf) override;

  void event(std::string_view topic, const core::formatted_bytes& what) override;
  void log_batch(const core::formatted_bytes& what) override;
  void node_ready(std::string_view id) override;
  void node_lost(std::string_view id) override;
  void link_failed(std::string_view what) override;

  pubsub::expected<core::member_place> Place();
  void Enqueue(zeek::EventHandlerPtr handler, std::string_view text);
  void RegisterMetrics();

  const std::string log_format_;
  const bool is_client_; // of the WebSocket server
  std::optional<core::member> member_;
  Source* source_ = nullptr; // owned by Zeek's main loop
  std::size_t max_at_once_ = 100;
  std::chrono::nanoseconds linger_{0};
  zeek::EventHandlerPtr on_ready_;
  zeek::EventHandlerPtr on_lost_;
  zeek::EventHandlerPtr on_link_;
};

} // namespace pubsub_plugin
