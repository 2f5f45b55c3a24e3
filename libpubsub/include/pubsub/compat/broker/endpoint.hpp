// Broker's endpoint, over the library's own.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/configuration.hpp>
#include <pubsub/compat/broker/encoding.hpp>
#include <pubsub/compat/broker/error.hpp>
#include <pubsub/compat/broker/message.hpp>
#include <pubsub/compat/broker/missing.hpp>
#include <pubsub/compat/broker/peer.hpp>
#include <pubsub/compat/broker/publisher.hpp>
#include <pubsub/compat/broker/status_data.hpp>
#include <pubsub/compat/broker/status_subscriber.hpp>
#include <pubsub/compat/broker/store.hpp>
#include <pubsub/compat/broker/subscriber.hpp>
#include <pubsub/compat/broker/worker.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/topic.hpp>

namespace broker {
inline namespace over_pubsub {

/// A node of the network. Its own subscribers do not receive what it publishes. All members may be
/// called from any thread. Connections are encrypted unless `broker_options::disable_ssl` is set.
class endpoint : public detail::endpoint_leftovers {
public:
  endpoint() : endpoint(configuration{}) {}
  explicit endpoint(configuration config) : endpoint(std::move(config), endpoint_id::random()) {}
  endpoint(configuration config, endpoint_id id)
      : config_(std::move(config)), node_(detail::native_options(config_, id.native())) {}
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;
  ~endpoint() { shutdown(); }

  /// Sends what is queued, says goodbye to peers, in at most 3 seconds, and ends all background
  /// work. Idempotent.
  void shutdown() {
    shut_down_ = true;
    node_.close();
    std::vector<std::shared_ptr<detail::background>> tasks;
    {
      const std::lock_guard lock{tasks_mutex_};
      tasks.swap(tasks_);
    }
    for (const auto& each : tasks)
      each->stop();
    const std::lock_guard lock{stores_mutex_};
    for (const auto& [name, each] : stores_)
      each->stop();
  }
  bool is_shutdown() const { return shut_down_; }
  endpoint_id node_id() const noexcept { return endpoint_id{node_.id()}; }
  const configuration& config() const { return config_; }
  broker_options options() const { return config_.options(); }
  bool use_real_time() const { return config_.options().use_real_time; }
  timestamp now() const { return over_pubsub::now(); }
  /// The library's own endpoint, for what Broker's has no word for.
  pubsub::endpoint& native() noexcept { return node_; }

  // -- peering ---------------------------------------------------------------------------------

  /// Accepts peers and returns the port; port 0 picks one, an empty address means all. 0 if that is
  /// not possible; then `err` says why.
  std::uint16_t listen(const std::string& address = {}, std::uint16_t port = 0,
                       error* err = nullptr, [[maybe_unused]] bool reuse_addr = true) {
    const auto bound = node_.listen(uri(address, port));
    if (bound)
      return *bound;
    if (err != nullptr)
      *err = error{ec::cannot_open_resource, bound.error().message()};
    return 0;
  }
  /// Connects to a peer and waits until that has succeeded, or the only attempt has failed.
  /// `retry`: time between attempts, for ever, and again when the peering is lost; 0: one attempt.
  /// Each failure is an error for status subscribers.
  bool peer(const std::string& address, std::uint16_t port,
            timeout::seconds retry = timeout::seconds{10}) {
    return node_.peer(uri(address, port), detail::native_peering(retry)).has_value();
  }
  bool peer(const network_info& info) { return peer(info.address, info.port, info.retry); }
  /// As `peer`, but returns at once.
  void peer_nosync(const std::string& address, std::uint16_t port,
                   timeout::seconds retry = timeout::seconds{10}) {
    static_cast<void>(node_.peer_async(uri(address, port), detail::native_peering(retry)));
  }
  std::future<bool> peer_async(std::string address, std::uint16_t port,
                               timeout::seconds retry = timeout::seconds{10}) {
    auto done = std::make_shared<std::promise<bool>>();
    auto result = done->get_future();
    in_background(
        [this, done, address, port, retry] { done->set_value(peer(address, port, retry)); });
    return result;
  }
  /// Ends the peering made with this address after what is queued is sent. False if there is none.
  bool unpeer(const std::string& address, std::uint16_t port) {
    const auto parted = node_.unpeer(uri(address, port));
    return parted || parted.error() == pubsub::errc::request_timeout;
  }
  /// As `unpeer`, but returns at once.
  void unpeer_nosync(const std::string& address, std::uint16_t port) {
    in_background([this, address, port] { unpeer(address, port); });
  }
  /// The established peers.
  std::vector<peer_info> peers() const {
    std::vector<peer_info> result;
    for (const auto& each : node_.peers())
      if (each.state == pubsub::peer_state::peered)
        result.push_back(
            {endpoint_info{each.id, each.network},
             peer_flags::remote + (each.outgoing ? peer_flags::outbound : peer_flags::inbound),
             peer_status::peered});
    return result;
  }
  /// The topics that peers want, sorted.
  std::vector<topic> peer_subscriptions() const {
    std::set<std::string> names;
    for (const auto& each : node_.peers())
      names.insert(each.filter.begin(), each.filter.end());
    return {names.begin(), names.end()};
  }
  /// Waits until the endpoint with this id is a peer, or can be reached through others. False after
  /// `timeout`.
  [[nodiscard]] bool await_peer(endpoint_id whom, timespan timeout = std::chrono::seconds{10}) {
    return wait_until(timeout, [this, id = whom.native(), seen = detail::deadline{}]() mutable {
      return is_reached(id, seen);
    });
  }
  /// The same, telling `callback` from another thread.
  void await_peer(endpoint_id whom, std::function<void(bool)> callback,
                  timespan timeout = std::chrono::seconds{10}) {
    in_background([this, whom, callback = std::move(callback), timeout] {
      callback(await_peer(whom, timeout));
    });
  }
  /// Waits until this endpoint subscribes to `what`. False after `timeout`.
  [[nodiscard]] bool await_filter_entry(const topic& what,
                                        timespan timeout = std::chrono::seconds{10}) {
    return wait_until(timeout, [this, &what] { return node_.filter().matches(what.string()); });
  }
  filter_type filter() const {
    const auto topics = node_.filter();
    return {topics.begin(), topics.end()};
  }

  // -- publishing ------------------------------------------------------------------------------

  /// Publishes to every subscriber in reach but this endpoint's own. Waits while a queue is full.
  void publish(const topic& t, const data& d) {
    static_cast<void>(node_.publish(t.string(), detail::encoded(d).bytes()));
  }
  void publish(const topic& t, std::initializer_list<data> xs) { publish(t, data{vector{xs}}); }
  void publish(const topic& t, const zeek::Message& x);
  /// To the subscribers of one other endpoint only.
  void publish(const endpoint_info& dst, const topic& t, const data& d) {
    static_cast<void>(node_.publish_to(dst.node.native(), t.string(), detail::encoded(d).bytes()));
  }
  void publish(const endpoint_info& dst, const topic& t, const zeek::Message& x);
  void publish(const data_message& x) { publish(get_topic(x), get_data(x)); }
  void publish(const std::vector<data_message>& xs) {
    for (const auto& each : xs)
      publish(each);
  }
  void publish(const endpoint_info& dst, const data_message& x) {
    publish(dst, get_topic(x), get_data(x));
  }
  publisher make_publisher(const topic& t) { return publisher{node_.share(), t}; }
  /// Publishes in the background what `pull` puts into its queue, until `at_end` says so. They are
  /// called as `init()`, `pull(queue, hint)`, `at_end()`, or each with a reference to a state
  /// first, of the type that `init` takes; `init` before this returns.
  template <class Init, class Pull, class AtEnd>
  worker publish_all(Init init, Pull pull, AtEnd at_end) {
    auto state = std::make_shared<detail::state_for<Init>>();
    detail::call(init, *state);
    auto stopped = std::make_shared<std::atomic<bool>>(false);
    return start(
        [this, state, stopped, pull = std::move(pull), at_end = std::move(at_end)]() mutable {
          detail::run_guarded([&] { pull_all(*state, *stopped, pull, at_end); },
                              [](const error&) {});
        },
        [stopped] { *stopped = true; });
  }
  template <class Init, class Pull, class AtEnd>
  worker publish_all_nosync(Init init, Pull pull, AtEnd at_end) {
    return publish_all(std::move(init), std::move(pull), std::move(at_end));
  }
  /// Announces topics that have no subscriber here: peers then send them, and this endpoint
  /// passes them on. Peers of this library need no such help.
  void forward(const std::vector<topic>& ts) {
    auto options = pubsub::queue_options{};
    options.policy = pubsub::overflow_policy::drop_oldest;
    options.capacity_messages = 1;
    const std::lock_guard lock{tasks_mutex_};
    forwarded_.push_back(node_.make_subscriber(detail::native_filter(ts), options));
  }

  // -- subscribing -----------------------------------------------------------------------------

  /// `queue_size`: messages it may hold; less than a million counts as that.
  subscriber make_subscriber(const filter_type& topics, std::size_t queue_size = 64) {
    return subscriber{make_native_subscriber(topics, queue_size)};
  }
  status_subscriber make_status_subscriber(bool receive_statuses = false,
                                           [[maybe_unused]] std::size_t queue_size = 64) {
    return status_subscriber{node_.make_status_subscriber(
        receive_statuses ? pubsub::status_events::all : pubsub::status_events::errors)};
  }
  /// Calls `on_next` for each message on a thread of its own, until it throws, `stop` or `shutdown`
  /// is called; then `cleanup`. They are called as `init()`, `on_next(message)`, `cleanup(error)`,
  /// or each with a reference to a state first, of the type that `init` takes; `init` before this
  /// returns. Among the topics may be `topic::errors()` and `topic::statuses()`.
  template <class Init, class OnNext, class Cleanup>
  worker subscribe(const filter_type& topics, Init init, OnNext on_next, Cleanup cleanup) {
    auto state = std::make_shared<detail::state_for<Init>>();
    detail::call(init, *state);
    auto source = std::make_shared<pubsub::subscriber>(make_native_subscriber(topics, 0));
    // Two threads call on_next where events are wanted, too; never at the same time.
    auto deliver = [state, source, taking_turns = std::make_shared<std::mutex>(),
                    on_next =
                        std::make_shared<OnNext>(std::move(on_next))](const data_message& msg) {
      const std::lock_guard turn{*taking_turns};
      detail::call(*on_next, *state, msg);
    };
    auto events = tell_of_peers(topics, source, deliver);
    return start(
        [state, source, deliver, events, cleanup = std::move(cleanup)]() mutable {
          detail::run_guarded(
              [&] {
                while (const auto msg = source->get())
                  deliver(detail::from_native(*msg));
              },
              [&](const error& reason) {
                source->close();
                if (events != nullptr)
                  events->wait();
                detail::call(cleanup, *state, reason);
              });
        },
        [source] { source->close(); });
  }
  template <class OnNext>
  worker subscribe(const filter_type& topics, OnNext on_next) {
    return subscribe(
        topics, [] {}, std::move(on_next), [](const error&) {});
  }
  template <class Init, class OnNext, class Cleanup>
  worker subscribe_nosync(const filter_type& topics, Init init, OnNext on_next, Cleanup cleanup) {
    return subscribe(topics, std::move(init), std::move(on_next), std::move(cleanup));
  }
  void wait_for(const worker& who) {
    if (who.task_ != nullptr)
      who.task_->wait();
  }
  void stop(const worker& who) {
    if (who.task_ != nullptr)
      who.task_->stop();
  }

  // -- data stores: templates, so that programs without stores do not compile them -------------

  /// Makes the master of a store, which lives as long as the endpoint; again: returns the same.
  /// Errors: master_exists (in reach, or there is a clone of it here); backend_failure
  /// (`type` is not memory); invalid_topic_key (a name that is empty, or holds `<$>`, or has more
  /// than 60,000 bytes); shutting_down. Where others subscribe to the topics of masters, as one
  /// that subscribes to all topics does, this takes a second or two to find out whether there is a
  /// master. Two that are made at the same time, or while their endpoints do not reach one another,
  /// do not notice; each clone then follows the one that it has heard first, as long as that is
  /// there.
  template <class Running = detail::running_master>
  expected<store> attach_master(std::string name, backend type,
                                [[maybe_unused]] const backend_options& options = {}) {
    if (type != backend::memory)
      return error{ec::backend_failure, "only stores in memory are there"};
    return attach<Running>(name,
                           [&](detail::store_effects&) { return detail::store_master{name}; });
  }
  /// Makes a clone of a store, which lives as long as the endpoint; again: returns the same. It
  /// looks for the master by itself, and for another one once that is gone. All times in seconds.
  /// `resync_interval`: between attempts to find the master again; it is found at once when it is
  /// heard. `stale_interval`: without a master, until what is asked for is stale_data; negative:
  /// never. Before the first master is found that takes 5 seconds. `mutation_buffer_interval`:
  /// without a master, until a command is given up; 0 or less: at once. Errors: no_such_master
  /// (there is the master of it here), and those of `attach_master`.
  template <class Running = detail::running_clone>
  expected<store> attach_clone(std::string name, double resync_interval = 10.0,
                               double stale_interval = 300.0,
                               double mutation_buffer_interval = 120.0) {
    const detail::clone_options options{interval(resync_interval), interval(stale_interval),
                                        interval(mutation_buffer_interval)};
    return attach<Running>(name, [&](detail::store_effects& begin) {
      return detail::store_clone{name, options, std::chrono::steady_clock::now(), begin};
    });
  }

private:
  template <class Running, class Make>
  expected<store> attach(const std::string& name, Make make) {
    constexpr auto for_master = std::is_same_v<Running, detail::running_master>;
    if (name.empty() || name.size() > 60'000 || pubsub::is_reserved_topic(name))
      return ec::invalid_topic_key;
    const std::lock_guard lock{stores_mutex_};
    if (const auto found = stores_.find(name); found != stores_.end()) {
      if (found->second->is_master() == for_master)
        return store{found->second};
      return for_master ? ec::master_exists : ec::no_such_master;
    }
    if (for_master && has_remote_master(detail::store_topics{name}))
      return ec::master_exists;
    if (shut_down_)
      return ec::shutting_down;
    auto made = std::make_shared<Running>(node_.share(), name, make);
    stores_.emplace(name, made);
    return store{std::move(made)};
  }
  /// For ever where no span is as long.
  static timespan interval(double seconds) {
    auto result = timespan{};
    if (convert(seconds, result))
      return result;
    return seconds > 0 ? timespan::max() : timespan::min();
  }
  /// A node that wants the topic of a master may be one, or want all topics: a master is heard.
  bool has_remote_master(const detail::store_topics& topics) {
    if (node_.subscribers(topics.master) == 0)
      return false;
    auto inbox = node_.make_subscriber({topics.clones});
    const auto patience = 2 * detail::store_heartbeat;
    static_cast<void>(inbox.wait_ready(patience));
    const auto heard = inbox.get_for(patience);
    return heard.has_value();
  }

  std::string uri(const std::string& host, std::uint16_t port) const {
    return detail::native_uri(config_.options().disable_ssl, host, port);
  }
  pubsub::subscriber make_native_subscriber(const filter_type& topics, std::size_t queue_size) {
    auto options = pubsub::queue_options{};
    options.capacity_messages = std::max(queue_size, detail::queue_messages);
    options.capacity_bytes = detail::queue_bytes;
    return node_.make_subscriber(detail::native_filter(topics), options);
  }

  /// A thread that hands events of peers to `deliver` as messages, until `until` is closed; null if
  /// none are among the topics.
  std::shared_ptr<detail::background>
  tell_of_peers(const filter_type& topics, const std::shared_ptr<pubsub::subscriber>& until,
                const std::function<void(const data_message&)>& deliver) {
    const auto wants = [&](const topic& which) {
      return std::any_of(topics.begin(), topics.end(), [&](const topic& each) {
        return is_internal(each) && each.prefix_of(which);
      });
    };
    const auto errors = wants(topic::errors());
    const auto statuses = wants(topic::statuses());
    if (!errors && !statuses)
      return nullptr;
    auto source = std::make_shared<pubsub::status_subscriber>(node_.make_status_subscriber(
        statuses ? pubsub::status_events::all : pubsub::status_events::errors));
    auto pass_on = [source, until, deliver, errors] {
      while (!until->closed()) {
        const auto event = source->get_for(std::chrono::milliseconds{100});
        if (event && (errors || !event->is_error()))
          deliver(detail::as_message(detail::from_native(*event)));
      }
    };
    return std::make_shared<detail::background>(
        [pass_on = std::move(pass_on), until] {
          detail::run_guarded(pass_on, [&until](const error&) { until->close(); });
        },
        [] {});
  }

  worker start(std::function<void()> work, std::function<void()> request_stop) {
    auto task = std::make_shared<detail::background>(std::move(work), std::move(request_stop));
    const std::lock_guard lock{tasks_mutex_};
    std::erase_if(tasks_, [](const auto& each) { return each->done(); });
    tasks_.push_back(task);
    return worker{std::move(task)};
  }
  /// For what ends by itself, at the latest when the endpoint is closed.
  void in_background(std::function<void()> work) {
    start([work = std::move(work)] { detail::run_guarded(work, [](const error&) {}); }, [] {});
  }

  template <class State, class Pull, class AtEnd>
  void pull_all(State& state, const std::atomic<bool>& stopped, Pull& pull, AtEnd& at_end) {
    constexpr std::size_t hint = 64;
    std::deque<data_message> pulled;
    while (!stopped && !shut_down_ && !detail::call(at_end, std::as_const(state))) {
      detail::call(pull, state, pulled, hint);
      if (pulled.empty())
        std::this_thread::sleep_for(std::chrono::milliseconds{1}); // it has nothing just now
      for (; !pulled.empty(); pulled.pop_front())
        publish(pulled.front());
    }
  }

  /// What a distant node wants is told a moment after its existence: it counts once it is known to
  /// want something, or nothing for a quarter of a second. `seen`: when it was seen first.
  bool is_reached(const pubsub::endpoint_id& id, detail::deadline& seen) const {
    if (node_.wait_for_peer(id, std::chrono::nanoseconds{0}))
      return true;
    const auto nodes = node_.nodes();
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const pubsub::node_info& each) {
      return each.id == id && !each.next_hop.is_nil();
    });
    if (found == nodes.end())
      return false;
    const auto now = std::chrono::steady_clock::now();
    seen = seen.value_or(now);
    return !found->filter.empty() || now - *seen > std::chrono::milliseconds{250};
  }
  template <class Predicate>
  bool wait_until(timespan timeout, Predicate done) const {
    const auto end = detail::deadline_of(timeout);
    while (!done()) {
      if (shut_down_ || (end && std::chrono::steady_clock::now() >= *end))
        return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return true;
  }

  configuration config_;
  pubsub::endpoint node_;
  std::atomic<bool> shut_down_ = false;
  std::mutex tasks_mutex_;
  std::vector<std::shared_ptr<detail::background>> tasks_;
  std::vector<pubsub::subscriber> forwarded_;
  std::mutex stores_mutex_;
  std::map<std::string, std::shared_ptr<detail::store_frontend>> stores_;
};

} // namespace over_pubsub
} // namespace broker
