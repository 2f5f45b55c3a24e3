// A cluster of one process: what it publishes waits in memory, and comes back to it. So Zeek does
// for an event all that it does with a network, scripts and serializers included, and nothing is
// done between: no backend costs less. SPDX-License-Identifier: BSD-3-Clause
#include <zeek/cluster/Backend.h>
#include <zeek/cluster/Component.h>
#include <zeek/cluster/Serializer.h>
#include <zeek/iosource/IOSource.h>
#include <zeek/iosource/Manager.h>
#include <zeek/plugin/Plugin.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace {

class Floor final : public zeek::cluster::Backend {
public:
  Floor(std::unique_ptr<zeek::cluster::EventSerializer> events,
        std::unique_ptr<zeek::cluster::LogSerializer> logs,
        std::unique_ptr<zeek::cluster::detail::EventHandlingStrategy> strategy)
      : zeek::cluster::Backend("FLOOR", std::move(events), std::move(logs), std::move(strategy)) {}

  static std::unique_ptr<zeek::cluster::Backend>
  Instantiate(std::unique_ptr<zeek::cluster::EventSerializer> events,
              std::unique_ptr<zeek::cluster::LogSerializer> logs,
              std::unique_ptr<zeek::cluster::detail::EventHandlingStrategy> strategy) {
    return std::make_unique<Floor>(std::move(events), std::move(logs), std::move(strategy));
  }

private:
  /// Zeek's main loop asks it whether something waits, and deletes it.
  class Source final : public zeek::iosource::IOSource {
  public:
    explicit Source(Floor& owner) : owner_(&owner) {}
    double GetNextTimeout() override {
      return owner_ == nullptr || owner_->events_ == 0 ? -1.0 : 0.0;
    }
    void Process() override {
      if (owner_ != nullptr)
        owner_->Deliver();
    }
    const char* Tag() override { return "Cluster::Backend::Floor"; }
    void Close() {
      owner_ = nullptr;
      SetClosed(true);
    }

  private:
    Floor* owner_;
  };

  struct Message {
    bool is_log;
    std::string topic;
    std::string format;
    zeek::byte_buffer bytes;
  };

  void Deliver() {
    for (int i = 0; i != 100 && events_ != 0; ++i) {
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      events_ -= next.is_log ? 0 : 1;
      if (next.is_log)
        ProcessLogMessage(next.format, {next.bytes.data(), next.bytes.size()});
      else
        ProcessEventMessage(next.topic, next.format, {next.bytes.data(), next.bytes.size()});
    }
  }

  void DoInitPostScript() override {}
  bool DoInit() override {
    source_ = new Source(*this);
    zeek::iosource_mgr->Register(source_);
    return true;
  }
  void DoTerminate() override {
    if (source_ != nullptr)
      std::exchange(source_, nullptr)->Close();
  }
  bool DoPublishEvent(const std::string& topic, const std::string& format,
                      const zeek::byte_buffer& buf) override {
    waiting_.push_back({false, topic, format, buf});
    ++events_;
    return true;
  }
  bool DoPublishLogWrites(const zeek::logging::detail::LogWriteHeader&, const std::string& format,
                          zeek::byte_buffer& buf) override {
    waiting_.push_back({true, {}, format, std::move(buf)});
    return true;
  }
  bool DoSubscribe(const std::string& topic_prefix, SubscribeCallback cb) override {
    if (cb)
      cb(topic_prefix, {CallbackStatus::Success, std::nullopt});
    return true;
  }
  bool DoUnsubscribe(const std::string&) override { return true; }
  void DoReadyToPublishCallback(ReadyCallback cb) override {
    cb({CallbackStatus::Success, std::nullopt});
  }

  /// Batches of log records wait for the next event: a process cannot send a log and write it at
  /// once.
  std::deque<Message> waiting_;
  std::size_t events_ = 0;   // of what waits
  Source* source_ = nullptr; // owned by Zeek's main loop
};

} // namespace

namespace zeek::plugin::Pubsub_Cluster_Backend_Floor {

class Plugin final : public zeek::plugin::Plugin {
  zeek::plugin::Configuration Configure() override {
    AddComponent(new zeek::cluster::BackendComponent("FLOOR", Floor::Instantiate));
    zeek::plugin::Configuration config;
    config.name = "Pubsub::Cluster_Backend_Floor";
    config.description = "Cluster backend of one process, for benchmarks";
    config.version.major = 1;
    return config;
  }
} plugin;

} // namespace zeek::plugin::Pubsub_Cluster_Backend_Floor
