// A node of the fault suite: endpoints that relay, publish and subscribe as commands on standard
// input tell. Uses the public API only. Ends at the end of its input, so that none is left behind.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <csignal>
#include <sys/prctl.h>

#include <pubsub/pubsub.hpp>

#include "calling.hpp"
#include "command.hpp"
#include "consuming.hpp"
#include "publishing.hpp"
#include "replicating.hpp"
#include "serving.hpp"

namespace faults {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// -- what the process holds ----------------------------------------------------------------------

std::size_t entries(const char* folder) {
  namespace fs = std::filesystem;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

/// A value of /proc/self/status, in kB.
std::uint64_t status_kb(const std::string& key) {
  std::ifstream in{"/proc/self/status"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":"))
      return std::stoull(line.substr(key.size() + 1));
  return 0;
}

json_object resources() {
  json_object all;
  all.add("threads", entries("/proc/self/task"))
      .add("descriptors", entries("/proc/self/fd"))
      .add("rss_kb", status_kb("VmRSS"))
      .add("peak_rss_kb", status_kb("VmHWM"));
  return all;
}

// -- options -------------------------------------------------------------------------------------

pubsub::queue_options queue_from(const command& in) {
  const auto name = in.text("policy", "block");
  const auto* const known =
      std::ranges::find(pubsub::all_overflow_policies, name, [](auto x) { return to_string(x); });
  if (known == std::end(pubsub::all_overflow_policies))
    throw std::runtime_error{"the library has no policy " + name};
  pubsub::queue_options queue;
  queue.policy = *known;
  queue.capacity_messages = in.number("capacity", queue.capacity_messages);
  return queue;
}

/// Nil for no text.
pubsub::endpoint_id endpoint_from(const std::string& text) {
  const auto id = text.empty() ? pubsub::endpoint_id{} : pubsub::endpoint_id::parse(text);
  if (!id)
    throw std::runtime_error{text + " is no endpoint id"};
  return *id;
}

planted planted_from(const command& in) {
  static const std::map<std::string, planted> known{{"", planted::nothing},
                                                    {"loss", planted::loss},
                                                    {"duplicate", planted::duplicate},
                                                    {"reorder", planted::reorder},
                                                    {"damage", planted::damage}};
  const auto found = known.find(in.text("plant", ""));
  if (found == known.end())
    throw std::runtime_error{"there is no fault " + in.text("plant")};
  return found->second;
}

// -- the node ------------------------------------------------------------------------------------

/// One endpoint and what runs on it. Members go in reverse order: what uses the endpoint first.
struct hosted {
  explicit hosted(pubsub::endpoint_options options)
      : node(std::move(options)), events(node.make_status_subscriber()) {}

  pubsub::endpoint node;
  pubsub::status_subscriber events;
  std::uint64_t peers_added = 0;
  std::uint64_t peers_lost = 0;
  std::map<std::uint64_t, std::unique_ptr<publishing>> publishers;
  std::map<std::string, std::unique_ptr<consuming>> subscribers;
  std::unique_ptr<replicating> replica;
  std::map<std::string, std::unique_ptr<sending>> clients; // by scheme
  std::unique_ptr<serving> service;
  std::vector<std::unique_ptr<calling>> callers;
};

class node {
public:
  json_object handle(const command& in) {
    static const std::map<std::string, json_object (node::*)(const command&)> verbs{
        {"open", &node::open},
        {"listen", &node::listen},
        {"ready", &node::ready},
        {"peer", &node::peer},
        {"unpeer", &node::unpeer},
        {"subscribe", &node::subscribe},
        {"unsubscribe", &node::unsubscribe},
        {"wait", &node::wait},
        {"publish", &node::publish},
        {"stop", &node::stop},
        {"report", &node::report},
        {"resources", &node::held},
        {"flush", &node::flush},
        {"drain", &node::drain},
        {"close", &node::close},
        {"cycle", &node::cycle},
        {"replica", &node::replica},
        {"send", &node::send},
        {"versions", &node::versions},
        {"allow", &node::allow},
        {"stop_sending", &node::stop_sending},
        {"serve", &node::serve},
        {"stop_serving", &node::stop_serving},
        {"call", &node::call},
        {"calls", &node::calls},
        {"stop_calling", &node::stop_calling}};
    const auto found = verbs.find(in.verb());
    if (found == verbs.end())
      throw std::runtime_error{"there is no command " + in.verb()};
    return (this->*found->second)(in);
  }

private:
  hosted& at(const command& in) {
    const auto found = hosted_.find(in.text("at", "main"));
    if (found == hosted_.end())
      throw std::runtime_error{"there is no endpoint " + in.text("at", "main")};
    return *found->second;
  }

  json_object open(const command& in) {
    pubsub::endpoint_options options;
    options.link_queue = queue_from(in);
    options.io_threads = static_cast<unsigned>(in.number("io_threads", 1));
    options.max_wire_version = static_cast<std::uint8_t>(in.number("version", 2));
    options.tls = {.certificate = in.text("certificate", ""),
                   .key = in.text("key", ""),
                   .passphrase = {},
                   .ca_file = in.text("ca", ""),
                   .ca_path = {}};
    if (const auto ring = in.number("ring", 0); ring > 0)
      options.memory.ring_bytes = static_cast<std::size_t>(ring);
    else if (in.number("shared_memory", 1) == 0)
      options.memory.use = pubsub::shared_memory::off;
    if (const auto silence = in.number("liveness_ms", 0); silence > 0)
      options.liveness_timeout = milliseconds{silence};
    const auto name = in.text("at", "main");
    const auto [place, fresh] = hosted_.emplace(name, nullptr);
    if (!fresh)
      throw std::runtime_error{name + " is open already"};
    place->second = std::make_unique<hosted>(options);
    return json_object{}.add("id", to_string(place->second->node.id()));
  }

  json_object listen(const command& in) {
    const auto port = at(in).node.listen(in.text("uri"));
    if (!port)
      throw std::runtime_error{port.error().message()};
    return json_object{}.add("port", *port);
  }

  json_object peer(const command& in) {
    const pubsub::peer_options options{.retry = milliseconds{in.number("retry_ms", 50)},
                                       .timeout = milliseconds{10'000}};
    if (const auto done = at(in).node.peer_async(in.text("uri"), options); !done)
      throw std::runtime_error{done.error().message()};
    return {};
  }

  json_object unpeer(const command& in) {
    if (const auto done = at(in).node.unpeer(in.text("uri")); !done)
      throw std::runtime_error{done.error().message()};
    return {};
  }

  json_object subscribe(const command& in) {
    auto& here = at(in);
    auto& place = here.subscribers[in.text("name")];
    if (place != nullptr)
      throw std::runtime_error{in.text("name") + " subscribes already"};
    place = std::make_unique<consuming>(here.node, pubsub::filter{in.text("topic")}, queue_from(in),
                                        in.number("per_second", 0), planted_from(in));
    return {};
  }

  json_object unsubscribe(const command& in) {
    auto& all = at(in).subscribers;
    const auto found = all.find(in.text("name"));
    if (found == all.end())
      throw std::runtime_error{in.text("name") + " does not subscribe"};
    found->second->close();
    auto last = found->second->report();
    all.erase(found);
    return last;
  }

  /// Whether a subscription is known to all others in time.
  json_object ready(const command& in) {
    const auto found = at(in).subscribers.find(in.text("name"));
    if (found == at(in).subscribers.end())
      throw std::runtime_error{in.text("name") + " does not subscribe"};
    return json_object{}.add("met",
                             found->second->wait_ready(milliseconds{in.number("timeout_ms")}));
  }

  /// For peers, or for subscribers of a topic; `met` says whether they came in time.
  json_object wait(const command& in) {
    auto& here = at(in).node;
    const auto n = in.number("n", 1);
    const auto timeout = milliseconds{in.number("timeout_ms")};
    const auto topic = in.text("topic", "");
    const bool met = topic.empty() ? here.wait_for_peers(n, timeout)
                                   : here.wait_for_subscribers(topic, n, timeout);
    return json_object{}.add("met", met);
  }

  json_object publish(const command& in) {
    auto& here = at(in);
    const publishing_options options{.publisher = in.number("publisher"),
                                     .topic = in.text("topic", ""),
                                     .topics = in.number("topics", 1),
                                     .messages = in.number("messages", 0),
                                     .per_second = in.number("per_second", 0),
                                     .min_bytes = in.number("min_bytes", 20),
                                     .max_bytes = in.number("max_bytes", 200),
                                     .to = endpoint_from(in.text("to", ""))};
    auto& place = here.publishers[options.publisher];
    if (place == nullptr)
      place = std::make_unique<publishing>(here.node, options);
    place->start(options.messages);
    return {};
  }

  json_object replica(const command& in) {
    pubsub::replica_options options;
    options.id = in.text("id");
    options.liveness_timeout = milliseconds{in.number("silence_ms")};
    at(in).replica =
        std::make_unique<replicating>(at(in).node, in.text("group"), options, in.text("file"));
    return {};
  }

  json_object send(const command& in) {
    const auto scheme = pubsub::parse_versioning(in.text("scheme"));
    if (!scheme)
      throw std::runtime_error{scheme.error().message()};
    const pubsub::versioned_group_options options{.scheme = *scheme,
                                                  .window_messages = in.number("window", 1'000),
                                                  .timeout = milliseconds{in.number("timeout_ms")},
                                                  .reports = pubsub::completion_reports::all};
    at(in).clients[in.text("scheme")] =
        std::make_unique<sending>(at(in).node, in.text("group"), options, in.text("file"));
    return {};
  }

  json_object allow(const command& in) {
    for (const auto& [scheme, each] : at(in).clients)
      each->allow(in.number("messages"));
    return {};
  }

  json_object stop_sending(const command& in) {
    for (const auto& [scheme, each] : at(in).clients)
      each->stop();
    return {};
  }

  json_object versions(const command& in) {
    json_object all;
    if (at(in).replica)
      all.add_raw("replica", at(in).replica->report().text());
    json_list clients;
    for (const auto& [scheme, each] : at(in).clients)
      clients.add(each->report().add("scheme", scheme).text());
    return all.add_raw("clients", clients.text());
  }

  json_object serve(const command& in) {
    at(in).service = std::make_unique<serving>(
        at(in).node, in.text("service"), pubsub::service_options{.workers = in.number("workers")},
        in.text("name"), in.text("file"), std::chrono::microseconds{in.number("work_us")},
        planted_from(in));
    return {};
  }

  json_object stop_serving(const command& in) {
    at(in).service.reset();
    return {};
  }

  json_object call(const command& in) {
    const auto mode = pubsub::parse_remote_mode(in.text("mode"));
    if (!mode)
      throw std::runtime_error{mode.error().message()};
    calling_options options{.name = in.text("name"),
                            .how = {},
                            .instances = in.number("instances"),
                            .per_second = in.number("per_second"),
                            .seed = in.number("seed")};
    options.how.mode = *mode;
    options.how.timeout = milliseconds{in.number("timeout_ms")};
    options.how.liveness_timeout = milliseconds{in.number("silence_ms")};
    at(in).callers.push_back(std::make_unique<calling>(at(in).node, in.text("service"), options,
                                                       in.text("file"), planted_from(in)));
    return {};
  }

  json_object calls(const command& in) {
    json_list callers;
    for (const auto& each : at(in).callers)
      callers.add(each->report().text());
    return json_object{}.add_raw("callers", callers.text());
  }

  json_object stop_calling(const command& in) {
    for (const auto& each : at(in).callers)
      each->stop();
    return {};
  }

  json_object stop(const command& in) {
    for (const auto& [id, each] : at(in).publishers)
      each->stop();
    return {};
  }

  json_object report(const command& in) {
    auto& here = at(in);
    while (const auto event = here.events.try_get()) {
      here.peers_added += event->code() == pubsub::status_code::peer_added;
      here.peers_lost += event->code() == pubsub::status_code::peer_lost;
    }
    json_list publishers;
    for (const auto& [id, each] : here.publishers)
      publishers.add(each->report().text());
    json_list subscribers;
    for (const auto& [name, each] : here.subscribers)
      subscribers.add(each->report().add("name", name).text());
    return json_object{}
        .add("peers_added", here.peers_added)
        .add("peers_lost", here.peers_lost)
        .add_raw("publishers", publishers.text())
        .add_raw("subscribers", subscribers.text())
        .add_raw("links", links(here.node))
        .add_raw("endpoint", totals(here.node))
        .add_raw("resources", resources().text());
  }

  static std::string links(const pubsub::endpoint& node) {
    json_list all;
    for (const auto& each : node.peers())
      all.add(json_object{}
                  .add("peer", to_string(each.id))
                  .add("peered", each.state == pubsub::peer_state::peered)
                  .add("offered", each.counters.offered)
                  .add("sent", each.counters.sent)
                  .add("queued", each.counters.queued)
                  .add("dropped", each.counters.dropped())
                  .add("dropped_gone", each.counters.dropped_gone)
                  .add("received", each.counters.received)
                  .text());
    return all.text();
  }

  static std::string totals(const pubsub::endpoint& node) {
    const auto sum = node.counters();
    return json_object{}
        .add("published", sum.published)
        .add("unwanted", sum.unwanted)
        .add("received", sum.received)
        .add("forwarded", sum.forwarded)
        .add("ttl_expired", sum.ttl_expired)
        .add("unreachable", sum.unreachable)
        .add("malformed_frames", sum.malformed_frames)
        .add("dropped_at_links", sum.links.dropped())
        .text();
  }

  json_object held(const command&) { return resources(); }

  json_object flush(const command& in) {
    return json_object{}.add("left", at(in).node.flush(milliseconds{in.number("timeout_ms")}));
  }

  json_object drain(const command& in) {
    return json_object{}.add("left", at(in).node.drain(milliseconds{in.number("timeout_ms")}));
  }

  /// Closes one endpoint, or all, and says how long the slowest `close` took and what is left.
  json_object close(const command& in) {
    const auto timeout = milliseconds{in.number("timeout_ms")};
    const auto only = in.text("at", "");
    std::int64_t slowest_ms = 0;
    for (auto each = hosted_.begin(); each != hosted_.end();) {
      if (!only.empty() && each->first != only) {
        ++each;
        continue;
      }
      const auto begin = clock::now();
      each->second->node.close(timeout);
      const auto taken = std::chrono::duration_cast<milliseconds>(clock::now() - begin);
      slowest_ms = std::max<std::int64_t>(slowest_ms, taken.count());
      each = hosted_.erase(each);
    }
    return resources().add("slowest_ms", slowest_ms);
  }

  /// Two endpoints are opened, peered, used and closed, again and again.
  json_object cycle(const command& in) {
    std::uint64_t received = 0;
    const auto n = in.number("count");
    for (std::uint64_t i = 0; i < n; ++i)
      received += one_cycle(i, milliseconds{in.number("timeout_ms")});
    return resources().add("received", received);
  }

  static std::uint64_t one_cycle(std::uint64_t i, milliseconds timeout) {
    pubsub::endpoint a;
    pubsub::endpoint b;
    const auto port = a.listen("tcp://127.0.0.1:0");
    auto in = a.make_subscriber({"/cycle"});
    if (!port || !b.peer("tcp://127.0.0.1:" + std::to_string(*port), {.timeout = timeout}) ||
        !b.wait_for_subscribers("/cycle", 1, timeout))
      throw std::runtime_error{"no peering in cycle " + std::to_string(i)};
    const auto sent = b.publish("/cycle", pubsub::data{static_cast<std::int64_t>(i)});
    const bool came = sent == pubsub::publish_result::taken && in.get_for(timeout).has_value();
    b.close(timeout);
    a.close(timeout);
    return came ? 1 : 0;
  }

  std::map<std::string, std::unique_ptr<hosted>> hosted_;
};

std::string greeting() {
  json_list policies;
  for (const auto policy : pubsub::all_overflow_policies)
    policies.add('"' + std::string{to_string(policy)} + '"');
  return resources().add_raw("policies", policies.text()).add("ok", true).text();
}

} // namespace

} // namespace faults

int main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A thread sanitizer starts a thread of its own with the first one: it is part of what was there
  // before.
  std::thread{[] {}}.join();
  faults::node here;
  std::cout << faults::greeting() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    faults::answer(line, [&](const faults::command& in) { return here.handle(in); });
}
