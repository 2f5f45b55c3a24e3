// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/nats_link.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include <sys/socket.h>

#include "base/printable.hpp"
#include "bridge/jetstream/nats_options.hpp"

namespace pubsub::bridge {

struct nats_events {
  event_loop loop;
  std::mutex mutex; // guards the rest
  std::string problem;
  std::string denied;
  int socket = -1; // of the connection, as long as it is open
};

namespace {

/// cnats reads so much at once; `drive` goes back to its caller after so many times.
constexpr int reads_at_once = 32;

/// One connection's socket in the loop. cnats attaches and detaches each once.
struct attachment {
  std::shared_ptr<nats_events> events;
  int socket;
  bool reads = true;
  bool writes = false;
  std::mutex mutex; // guards reads and writes: calls come with and without cnats' lock
};

natsStatus attach(void** data, void* loop, natsConnection*, natsSock socket) {
  auto& events = *static_cast<std::shared_ptr<nats_events>*>(loop);
  *data = new attachment{events, socket, true, false, {}};
  events->loop.add(socket, true, false);
  std::lock_guard lock{events->mutex};
  events->socket = socket;
  return NATS_OK;
}

natsStatus update(attachment& at, bool& what, bool on) {
  std::lock_guard lock{at.mutex};
  what = on;
  if (at.reads || at.writes) {
    at.events->loop.change(at.socket, at.reads, at.writes);
  } else { // the connection closes, on whichever thread
    std::lock_guard closing{at.events->mutex};
    if (at.events->socket == at.socket)
      at.events->socket = -1;
    at.events->loop.remove(at.socket);
    at.events->loop.wake();
  }
  return NATS_OK;
}

natsStatus change_read(void* data, bool on) {
  auto& at = *static_cast<attachment*>(data);
  return update(at, at.reads, on);
}

natsStatus change_write(void* data, bool on) {
  auto& at = *static_cast<attachment*>(data);
  return update(at, at.writes, on);
}

natsStatus detach(void* data) {
  const std::unique_ptr<attachment> at{static_cast<attachment*>(data)};
  at->events->loop.wake();
  return NATS_OK;
}

/// cnats calls its handler for errors on a thread of its own, at any time, with a pointer only:
/// the number of an entry here.
class event_registry {
public:
  std::uintptr_t add(const std::shared_ptr<nats_events>& events) {
    std::lock_guard lock{mutex_};
    std::erase_if(all_, [](const auto& each) { return each.second.expired(); });
    all_.emplace(++last_, events);
    return last_;
  }
  std::shared_ptr<nats_events> find(std::uintptr_t number) {
    std::lock_guard lock{mutex_};
    const auto found = all_.find(number);
    return found == all_.end() ? nullptr : found->second.lock();
  }

private:
  std::mutex mutex_; // guards the rest
  std::map<std::uintptr_t, std::weak_ptr<nats_events>> all_;
  std::uintptr_t last_ = 0;
};

event_registry& registry() {
  static auto* const all = new event_registry; // never destroyed: cnats' threads may outlive main
  return *all;
}

/// The subject of `Permissions Violation for Publish to "..."`; empty if it is another text.
std::string denied_subject(std::string_view text) {
  constexpr std::string_view begin = "ermissions Violation for Publish to \"";
  const auto at = text.find(begin);
  if (at == std::string_view::npos)
    return {};
  text.remove_prefix(at + begin.size());
  return std::string{text.substr(0, text.find('"'))};
}

void take_failure(natsConnection* connection, natsSubscription*, natsStatus status, void* number) {
  const auto events = registry().find(reinterpret_cast<std::uintptr_t>(number));
  if (!events)
    return;
  const char* text = nullptr;
  ::natsConnection_GetLastError(connection, &text);
  std::lock_guard lock{events->mutex};
  events->problem = printable(text != nullptr && *text != '\0' ? text : natsStatus_GetText(status));
  if (auto subject = denied_subject(text != nullptr ? text : ""); !subject.empty())
    events->denied = std::move(subject);
  events->loop.wake();
}

struct answer_collector {
  std::shared_ptr<nats_events> events;
  std::shared_ptr<answer_queue> queue;
};

void collect(natsConnection*, natsSubscription*, natsMsg* message, void* collector) {
  const auto& to = *static_cast<answer_collector*>(collector);
  if (to.queue->push(nats_ptr<natsMsg>{message}))
    to.events->loop.wake();
}

void forget_collector(void* collector) {
  delete static_cast<answer_collector*>(collector);
}

std::string new_inbox() {
  natsInbox* made = nullptr;
  if (::natsInbox_Create(&made) != NATS_OK)
    return {};
  std::string result = made;
  ::natsInbox_Destroy(made);
  return result + ".";
}

} // namespace

expected<std::unique_ptr<nats_link>> nats_link::make(const jetstream& options) {
  auto made = make_options(options);
  if (!made)
    return made.error();
  std::unique_ptr<nats_link> result{new nats_link{*std::move(made), shown_addresses(options.url)}};
  if (result->inbox_.empty())
    return error{errc::limit_exceeded, "cnats has no memory"};
  return result;
}

nats_link::nats_link(nats_ptr<natsOptions> options, std::string address)
    : events_(std::make_shared<nats_events>()), options_(std::move(options)),
      address_(std::move(address)), inbox_(new_inbox()),
      connector_([this] { return connect(); }, [this] { events_->loop.wake(); }) {
  ::natsOptions_SetEventLoop(options_.get(), &events_, attach, change_read, change_write, detach);
  ::natsOptions_SetErrorHandler(options_.get(), take_failure,
                                reinterpret_cast<void*>(registry().add(events_)));
}

nats_link::~nats_link() {
  end();
}

event_loop& nats_link::events_loop() const noexcept {
  return events_->loop;
}

expected<nats_ptr<natsConnection>> nats_link::connect() {
  natsConnection* made = nullptr;
  const auto status = ::natsConnection_Connect(&made, options_.get());
  if (status == NATS_OK)
    return nats_ptr<natsConnection>{made};
  const char* text = ::nats_GetLastError(nullptr);
  return error{errc::peer_unavailable,
               address_ + ": " +
                   printable(text != nullptr && *text != '\0' ? text : natsStatus_GetText(status))};
}

void nats_link::drive() {
  if (connection_ == nullptr) {
    if (!std::exchange(asked_, true))
      connector_.start();
    if (auto made = connector_.take()) {
      connection_ = std::move(*made);
      asked_ = false;
      ++generation_;
      problem_.clear();
    }
  }
  for (int i = 0; i < reads_at_once; ++i) {
    const auto now = events_->loop.look();
    if (connection_ == nullptr || (!now.readable && !now.writable))
      break;
    if (now.writable)
      ::natsConnection_ProcessWriteEvent(connection_.get());
    if (now.readable)
      ::natsConnection_ProcessReadEvent(connection_.get());
    else
      break;
  }
  if (connection_ != nullptr && ::natsConnection_IsClosed(connection_.get())) {
    const char* text = nullptr;
    ::natsConnection_GetLastError(connection_.get(), &text);
    drop(text != nullptr && *text != '\0' ? text : "the connection is lost");
  }
}

void nats_link::flush() {
  if (connection_ != nullptr && ::natsConnection_Buffered(connection_.get()) > 0)
    ::natsConnection_ProcessWriteEvent(connection_.get());
}

bool nats_link::request(const std::string& subject, std::string_view payload,
                        std::string_view answer) {
  if (connection_ == nullptr)
    return false;
  const auto reply = inbox_ + std::string{answer};
  return ::natsConnection_PublishRequest(connection_.get(), subject.c_str(), reply.c_str(),
                                         payload.data(),
                                         static_cast<int>(payload.size())) == NATS_OK;
}

nats_ptr<natsSubscription> nats_link::subscribe(std::string_view prefix) {
  natsSubscription* made = nullptr;
  const auto subject = inbox_ + std::string{prefix} + ".*";
  if (connection_ == nullptr ||
      ::natsConnection_SubscribeSync(&made, connection_.get(), subject.c_str()) != NATS_OK)
    return {};
  ::natsSubscription_SetPendingLimits(made, -1, -1); // bounded by what was asked for
  return nats_ptr<natsSubscription>{made};
}

std::string nats_link::problem() const {
  if (auto now = connector_.problem(); !now.empty())
    return now;
  if (!problem_.empty())
    return problem_;
  std::lock_guard lock{events_->mutex};
  return events_->problem.empty() ? std::string{} : address_ + ": " + events_->problem;
}

std::string nats_link::take_denied_subject() {
  std::lock_guard lock{events_->mutex};
  if (!events_->denied.empty()) // the record that is refused says so
    events_->problem.clear();
  return std::exchange(events_->denied, {});
}

/// cnats waits for half a second for the server before it closes a connection, unless it has found
/// that to be gone.
void nats_link::end() {
  if (connection_ == nullptr)
    return;
  {
    std::lock_guard lock{events_->mutex};
    if (events_->socket >= 0)
      ::shutdown(events_->socket, SHUT_RDWR);
  }
  for (int i = 0; i < reads_at_once && !::natsConnection_IsClosed(connection_.get()); ++i)
    ::natsConnection_ProcessReadEvent(connection_.get());
  connection_.reset();
}

void nats_link::drop(std::string_view why) {
  problem_ = address_ + ": " + printable(why);
  end();
  events_->loop.wake();
}

nats_ptr<natsSubscription> nats_link::subscribe(std::string_view prefix,
                                                const std::shared_ptr<answer_queue>& to) {
  natsSubscription* made = nullptr;
  const auto subject = inbox_ + std::string{prefix} + ".*";
  auto collector = std::make_unique<answer_collector>(answer_collector{events_, to});
  if (connection_ == nullptr ||
      ::natsConnection_Subscribe(&made, connection_.get(), subject.c_str(), collect,
                                 collector.get()) != NATS_OK)
    return {};
  ::natsSubscription_SetPendingLimits(made, -1, -1); // bounded by what was asked for
  // It goes when cnats does not need it any more.
  ::natsSubscription_SetOnCompleteCB(made, forget_collector, collector.release());
  return nats_ptr<natsSubscription>{made};
}

next_message::next_message(natsSubscription* from) {
  natsMsg* result = nullptr;
  if (from == nullptr)
    return;
  const auto status = ::natsSubscription_NextMsg(&result, from, 0);
  message.reset(result);
  unanswered = status == NATS_NO_RESPONDERS;
}

std::string_view payload_of(const natsMsg* x) {
  const auto size = ::natsMsg_GetDataLength(x);
  const char* data = ::natsMsg_GetData(x);
  return data == nullptr || size <= 0 ? std::string_view{}
                                      : std::string_view{data, static_cast<std::size_t>(size)};
}

} // namespace pubsub::bridge
