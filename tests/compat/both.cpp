// Uses Broker's API widely, and compiles with Broker as with what stands in for it: the output of
// both must be the same. SPDX-License-Identifier: BSD-3-Clause
#ifdef WITH_BROKER
#include <broker/broker.hh>
#include <broker/zeek.hh>
#else
#include <pubsub/compat/broker.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <poll.h>

using namespace std::chrono_literals;

namespace {

constexpr auto patience = std::chrono::seconds{30};

template <class T>
T parsed(const std::string& text) {
  T result;
  std::cout << (broker::convert(text, result) ? "" : "not parsed: ");
  return result;
}

// -- values ------------------------------------------------------------------------------------

broker::data one_of_each() {
  return broker::vector{broker::nil,
                        true,
                        7u,
                        -7,
                        0.25,
                        "text",
                        parsed<broker::address>("192.0.2.1"),
                        broker::subnet{parsed<broker::address>("2001:db8::1"), 32},
                        broker::port{80, broker::port::protocol::tcp},
                        broker::timestamp{broker::timespan{1'000'000'007}},
                        broker::timespan{-5},
                        broker::enum_value{"Conn::LOG"},
                        broker::set{3, 1, 2, "x", 1u},
                        broker::table{{"b", 2u}, {"a", broker::vector{1, 2}}},
                        broker::vector{broker::vector{}}};
}

/// The name of the alternative, from a reference to it.
struct alternative_name {
  using result_type = std::string;
  std::string operator()(broker::none) const { return "none"; }
  std::string operator()(broker::boolean x) const { return x ? "yes" : "no"; }
  std::string operator()(broker::count) const { return "count"; }
  std::string operator()(broker::integer) const { return "integer"; }
  std::string operator()(broker::real) const { return "real"; }
  std::string operator()(const std::string& x) const {
    return "string of " + std::to_string(x.size());
  }
  std::string operator()(const broker::address& x) const { return x.is_v4() ? "v4" : "v6"; }
  std::string operator()(const broker::subnet& x) const { return "/" + std::to_string(x.length()); }
  std::string operator()(const broker::port& x) const { return std::to_string(x.number()); }
  std::string operator()(broker::timestamp) const { return "timestamp"; }
  std::string operator()(broker::timespan) const { return "timespan"; }
  std::string operator()(const broker::enum_value& x) const { return x.name; }
  std::string operator()(const broker::set& x) const {
    return "set of " + std::to_string(x.size());
  }
  std::string operator()(const broker::table& x) const {
    return "table of " + std::to_string(x.size());
  }
  std::string operator()(const broker::vector& x) const {
    return "vector of " + std::to_string(x.size());
  }
};

void show_values() {
  const auto all = one_of_each();
  std::cout << all << '\n' << broker::to_string(all) << '\n';
  for (const auto& each : broker::get<broker::vector>(all)) {
    const auto again = broker::data::from_type(each.get_type());
    std::cout << each << " is " << broker::visit(alternative_name{}, each) << ", empty " << again
              << ", the same type " << (again.get_type() == each.get_type()) << '\n';
  }
}

void show_access() {
  broker::data x = 42u;
  std::cout << broker::is<broker::count>(x) << broker::is<broker::integer>(x) << '\n';
  *broker::get_if<broker::count>(x) += 1;
  broker::get<broker::count>(x) += 1;
  std::cout << x << ' ' << (broker::get_if<broker::integer>(x) == nullptr) << '\n';
  try {
    std::cout << broker::get<std::string>(x);
  } catch (const broker::bad_variant_access& problem) {
    std::cout << problem.what() << '\n';
  }
  const broker::data pair = broker::vector{"key", 5u};
  std::cout << broker::contains<std::string, broker::count>(pair)
            << broker::contains<std::string, broker::integer>(pair)
            << broker::contains<std::string, broker::any_type>(pair)
            << broker::contains<std::string>(pair) << '\n';
}

void show_order() {
  broker::vector values{"b",
                        "a",
                        2,
                        -1,
                        2u,
                        1.5,
                        true,
                        false,
                        broker::nil,
                        broker::vector{1, 2},
                        broker::vector{1},
                        broker::set{1},
                        broker::table{{1, 2}},
                        broker::enum_value{"E"},
                        broker::port{1, broker::port::protocol::udp},
                        broker::port{1, broker::port::protocol::tcp}};
  std::sort(values.begin(), values.end());
  std::cout << values << '\n';
  std::cout << (broker::data{1} == broker::data{1}) << (broker::data{1} == broker::data{1u})
            << (broker::data{1} != broker::data{2}) << (broker::data{"a"} < broker::data{"b"})
            << (broker::data{"a"} >= broker::data{"b"}) << '\n';
  std::unordered_map<broker::data, int> numbers;
  numbers[broker::data{"one"}] = 1;
  numbers[broker::data{broker::vector{1, "two"}}] = 2;
  numbers[broker::data{"one"}] += 10;
  std::cout << numbers.size() << ' ' << numbers[broker::data{"one"}] << ' '
            << numbers[broker::data{broker::vector{1, "two"}}] << '\n';
}

void show_addresses() {
  const std::uint32_t words[] = {0x20010db8, 0, 0, 1};
  auto v6 =
      broker::address{words, broker::address::family::ipv6, broker::address::byte_order::host};
  const auto v4 =
      broker::address{words, broker::address::family::ipv4, broker::address::byte_order::host};
  std::cout << broker::to_string(v6) << ' ' << broker::to_string(v4) << ' ' << v4.is_v4()
            << v6.is_v6() << '\n';
  std::cout << v6.mask(16) << ' ' << broker::to_string(v6) << '\n';
  std::cout << broker::to_string(parsed<broker::address>("::ffff:10.0.0.1")) << ' '
            << broker::to_string(parsed<broker::address>("fe80::1")) << ' ';
  std::cout << (parsed<broker::address>("256.0.0.1") == broker::address{}) << '\n';
  const auto net = broker::subnet{parsed<broker::address>("10.1.2.3"), 8};
  std::cout << broker::to_string(net) << ' ' << net.contains(parsed<broker::address>("10.200.0.1"))
            << net.contains(parsed<broker::address>("11.0.0.1")) << ' '
            << broker::to_string(net.network()) << ' ' << static_cast<int>(net.length()) << '\n';
  for (const auto* text : {"80/tcp", "53/udp", "8/icmp", "7/?"}) {
    const auto port = parsed<broker::port>(text);
    std::cout << broker::to_string(port) << ' ' << port.number() << ' '
              << static_cast<int>(port.type()) << '\n';
  }
  std::cout << std::unordered_set<broker::address>{v4, v4, v6}.size() << '\n';
}

void show_times() {
  broker::timespan span{};
  broker::timestamp time{};
  std::cout << broker::convert(1.5, span) << ' ' << broker::to_string(span) << ' ';
  std::cout << broker::convert(2.25, time) << ' ' << time.time_since_epoch().count() << ' ';
  double seconds = 0;
  broker::convert(span, seconds);
  std::cout << seconds << ' ' << broker::to_timespan(0.5).count() << ' '
            << (broker::now() > broker::timestamp{}) << '\n';
}

void show_topics() {
  using broker::topic;
  const auto joined = topic{"a"} / topic{"b"} / topic{"/c/"};
  std::cout << joined.string() << ' ' << broker::to_string(joined) << ' ' << joined << '\n';
  for (const auto& part : topic::split("/zeek//events/x/"))
    std::cout << '[' << part << ']';
  std::cout << ' ' << topic::join({"x", "y"}).string() << ' ' << topic{"/a"}.prefix_of("/a/b")
            << topic{"/a/b"}.prefix_of("/a") << (topic{"a"} == topic{"a"})
            << (topic{"a"} < topic{"b"}) << (topic{"a"} != topic{"b"})
            << std::hash<topic>{}("a") - std::hash<topic>{}("a") << '\n';
  auto changed = topic{"x"};
  changed /= "y";
  std::cout << changed << '\n';
}

void show_zeek_messages() {
  namespace zeek = broker::zeek;
  const zeek::Event made{"ping", {1, "two"}};
  std::cout << made.as_data() << ' ' << made.valid() << made.type() << '\n';
  const zeek::Event read{broker::data{made}};
  std::cout << read.name() << read.args() << '\n';
  const zeek::Batch batch{broker::vector{made.as_data(), made.as_data()}};
  std::cout << batch.as_data() << ' ' << batch.valid() << ' ' << batch.batch().size() << '\n';
  const zeek::IdentifierUpdate update{"global", 5u};
  std::cout << update.id_name() << update.id_value() << update.valid() << update.type() << '\n';
  const zeek::LogWrite log{broker::enum_value{"S"}, broker::enum_value{"W"}, "path", "bytes"};
  std::cout << log.as_data() << log.stream_id().name << log.writer_id().name << log.path()
            << log.serial_data() << log.valid() << zeek::Message::type(log.as_data()) << '\n';
  const zeek::Event no_event{broker::data{broker::vector{1u, 1u, "no vector"}}};
  std::cout << no_event.valid() << zeek::Message::type(broker::data{"no message"}) << '\n';
}

void show_codes() {
  for (const auto code : {broker::ec::none, broker::ec::peer_invalid, broker::ec::request_timeout,
                          broker::ec::invalid_tag})
    std::cout << to_string(code) << ' ';
  for (const auto code :
       {broker::sc::peer_added, broker::sc::peer_lost, broker::sc::endpoint_unreachable})
    std::cout << to_string(code) << ' ';
  const broker::error problem = broker::ec::type_clash;
  std::cout << static_cast<int>(problem.code()) << (problem == broker::ec::type_clash) << !problem
            << !broker::error{} << '\n';
  const auto gone = broker::status::make<broker::sc::peer_lost>(broker::endpoint_info{}, "gone");
  std::cout << (gone == broker::sc::peer_lost) << *gone.message() << (gone.context() != nullptr)
            << '\n';
  const broker::expected<broker::data> good{broker::data{5}};
  const broker::expected<broker::data> bad{broker::ec::no_such_key};
  std::cout << !good << *good << !bad << (bad.error() == broker::ec::no_such_key) << '\n';
}

void show_messages() {
  auto msg = broker::make_data_message("/topic", broker::data{1});
  const auto copy = msg;
  auto taken = broker::move_data(msg);
  std::cout << taken << broker::get_data(copy) << broker::get_topic(copy) << '\n';
}

// -- endpoints ---------------------------------------------------------------------------------

broker::configuration plain() {
  broker::broker_options options;
  options.disable_ssl = true;
  return broker::configuration{options};
}

/// Waits for this change, looking past others; false if it does not come.
bool comes(broker::status_subscriber& events, broker::sc wanted) {
  for (const auto end = std::chrono::steady_clock::now() + patience;
       std::chrono::steady_clock::now() < end;) {
    auto event = events.get(patience);
    if (const auto* change = broker::get_if<broker::status>(event);
        change != nullptr && *change == wanted)
      return true;
  }
  return false;
}

bool comes(broker::status_subscriber& errors, broker::ec wanted) {
  auto event = errors.get(patience);
  const auto* problem = broker::get_if<broker::error>(event);
  return problem != nullptr && *problem == wanted;
}

void show_received(broker::subscriber& inbox, std::size_t wanted) {
  for (const auto& each : inbox.get(wanted, patience))
    std::cout << broker::get_topic(each) << ' ' << broker::get_data(each) << '\n';
}

void publish_in_all_forms(broker::endpoint& sender) {
  sender.publish("/test/a", "text");
  sender.publish("/test/b", broker::vector{1, 2});
  sender.publish("/elsewhere", "unheard");
  sender.publish("/test/c", broker::vector{1u, true});
  sender.publish("/test/event", broker::zeek::Event{"ping", {5}});
  sender.publish(broker::make_data_message("/test/d", broker::data{one_of_each()}));
  sender.publish(std::vector<broker::data_message>{
      broker::make_data_message("/test/e", broker::data{1}),
      broker::make_data_message("/test/e", broker::data{2}),
  });
}

void show_publisher(broker::endpoint& sender, broker::subscriber& inbox) {
  auto publisher = sender.make_publisher("/test/publisher");
  publisher.publish(broker::data{"single"});
  publisher.publish(std::vector<broker::data>{1, 2, 3});
  std::cout << (publisher.capacity() > 0) << (publisher.free_capacity() > 0) << '\n';
  show_received(inbox, 4);
}

void show_waiting(broker::endpoint& sender, broker::subscriber& inbox) {
  std::cout << inbox.available() << inbox.poll().size() << !inbox.get(10ms)
            << inbox.get(2, 10ms).size() << '\n';
  sender.publish("/test/fd", "readable");
  pollfd wait{inbox.fd(), POLLIN, 0};
  std::cout << ::poll(&wait, 1, 30'000) << ' ' << broker::get_data(inbox.get()) << '\n';
  sender.publish("/test/optional", 1);
  if (const auto msg = inbox.get(patience))
    std::cout << broker::get_data(*msg) << '\n';
  inbox.add_topic("/more", true);
}

void show_endpoints() {
  broker::endpoint listening{plain()};
  broker::endpoint connecting{plain()};
  auto inbox = listening.make_subscriber({"/test"});
  auto there = listening.make_status_subscriber(true);
  auto here = connecting.make_status_subscriber(true);
  const auto port = listening.listen("127.0.0.1", 0);
  std::cout << (port != 0) << connecting.peer("127.0.0.1", port, broker::timeout::seconds{1})
            << '\n';
  std::cout << comes(here, broker::sc::peer_added) << comes(there, broker::sc::peer_added) << '\n';
  const auto peers = connecting.peers();
  std::cout << peers.size() << (peers.at(0).peer.node == listening.node_id())
            << (peers.at(0).status == broker::peer_status::peered)
            << (listening.node_id() != connecting.node_id()) << '\n';
  for (const auto& each : connecting.peer_subscriptions())
    if (!broker::is_internal(each))
      std::cout << each << '\n';
  publish_in_all_forms(connecting);
  show_received(inbox, 7);
  show_publisher(connecting, inbox);
  show_waiting(connecting, inbox);
  std::cout << connecting.unpeer("127.0.0.1", port) << comes(here, broker::sc::peer_removed)
            << comes(there, broker::sc::peer_lost) << connecting.peers().size() << '\n';
}

void show_failures() {
  broker::endpoint lonely{plain()};
  auto errors = lonely.make_status_subscriber();
  std::cout << lonely.listen("192.0.2.1", 1) << '\n'; // an address that no host has
  std::cout << lonely.peer("127.0.0.1", 1, broker::timeout::seconds{0})
            << comes(errors, broker::ec::peer_unavailable) << '\n';
  lonely.unpeer("127.0.0.1", 1);
  std::cout << comes(errors, broker::ec::peer_invalid) << lonely.is_shutdown()
            << lonely.use_real_time() << '\n';
  lonely.shutdown();
  std::cout << lonely.is_shutdown() << '\n';
}

// -- data stores -------------------------------------------------------------------------------

std::string shown(const broker::expected<broker::data>& x) {
  return x ? broker::to_string(*x) : to_string(static_cast<broker::ec>(x.error().code()));
}

/// Asks again until this is the answer; false if it never is.
bool becomes(broker::store& where, const broker::data& key, const std::string& wanted) {
  for (const auto end = std::chrono::steady_clock::now() + patience;
       std::chrono::steady_clock::now() < end;) {
    if (shown(where.get(key)) == wanted)
      return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

void show_numbers_in_store(broker::store& store) {
  store.put("number", 40);
  store.increment("number", 3);
  store.decrement("number", 1);
  store.increment("number", 1u); // of another type: nothing happens
  store.increment("made", 5u);
  store.decrement("not made", 5u);
  store.increment("time", broker::timespan{7});
  store.put("real", 1.5);
  store.decrement("real", 0.25);
  for (const auto* key : {"number", "made", "not made", "time", "real"})
    std::cout << key << ": " << shown(store.get(key)) << '\n';
}

void show_containers_in_store(broker::store& store) {
  store.append("text", "one");
  store.append("text", " two");
  store.insert_into("set", 3);
  store.insert_into("set", 1);
  store.insert_into("set", 3);
  store.remove_from("set", 2);
  store.insert_into("table", "key", 1);
  store.insert_into("table", "key", 2);
  store.insert_into("table", "other", broker::vector{1});
  store.remove_from("table", "none");
  store.push("vector", 1);
  store.push("vector", "last");
  store.push("vector", "popped");
  store.pop("vector");
  for (const auto* key : {"text", "set", "table", "vector"})
    std::cout << key << ": " << shown(store.get(key)) << '\n';
  std::cout << shown(store.get_index_from_value("set", 1))
            << shown(store.get_index_from_value("set", 2)) << ' '
            << shown(store.get_index_from_value("table", "key")) << ' '
            << shown(store.get_index_from_value("table", "none")) << ' '
            << shown(store.get_index_from_value("vector", 1u)) << ' '
            << shown(store.get_index_from_value("vector", 0)) << ' '
            << shown(store.get_index_from_value("vector", 2u)) << ' '
            << shown(store.get_index_from_value("vector", "x")) << ' '
            << shown(store.get_index_from_value("text", 5)) << ' '
            << shown(store.get_index_from_value("none", 5)) << '\n';
}

void show_entries_of_store(broker::store& store) {
  store.put(one_of_each(), one_of_each());
  std::cout << shown(store.get(one_of_each())) << '\n';
  store.erase(one_of_each());
  std::cout << shown(store.exists(one_of_each())) << shown(store.exists("text")) << ' '
            << shown(store.put_unique("text", "new")) << shown(store.put_unique("unique", "new"))
            << ' ' << shown(store.get("unique")) << '\n'
            << shown(store.keys()) << '\n';
  store.put("short", 1, broker::timespan{200ms});
  store.put("kept", 1, broker::timespan{200ms});
  store.put("kept", 2);
  std::cout << shown(store.get("short")) << becomes(store, "short", "no_such_key") << ' '
            << shown(store.get("kept")) << '\n';
  store.clear();
  std::cout << shown(store.keys()) << '\n';
}

void show_proxy(broker::store& store) {
  broker::store::proxy proxy{store};
  store.put("key", "value");
  std::cout << proxy.mailbox().empty() << proxy.get("key") << proxy.get("none")
            << proxy.exists("key") << proxy.keys() << proxy.put_unique("key", 1)
            << proxy.get_index_from_value("key", 1) << '\n';
  for (auto i = 0; i < 6; ++i) {
    pollfd wait{proxy.mailbox().descriptor(), POLLIN, 0};
    std::cout << ::poll(&wait, 1, 30'000) << ' ';
    const auto next = proxy.receive();
    std::cout << next.id << ' ' << shown(next.answer) << '\n';
  }
  std::cout << proxy.mailbox().size() << '\n';
}

void show_store() {
  broker::endpoint node{plain()};
  auto made = node.attach_master("store", broker::backend::memory);
  auto again = node.attach_master("store", broker::backend::memory);
  std::cout << !made << !again << ' ' << made->name() << ' '
            << (node.attach_clone("store").error() == broker::ec::no_such_master) << '\n';
  show_numbers_in_store(*made);
  show_containers_in_store(*made);
  show_entries_of_store(*again);
  show_proxy(*made);
}

void show_clone() {
  broker::endpoint with_master{plain()};
  broker::endpoint with_clone{plain()};
  auto master = *with_master.attach_master("shared", broker::backend::memory);
  master.put("old", broker::vector{1, 2});
  const auto port = with_master.listen("127.0.0.1", 0);
  std::cout << with_clone.peer("127.0.0.1", port, broker::timeout::seconds{1}) << '\n';
  auto clone = *with_clone.attach_clone("shared");
  std::cout << becomes(clone, "old", "(1, 2)") << '\n';
  master.put("new", one_of_each());
  std::cout << becomes(clone, "new", broker::to_string(one_of_each())) << '\n';
  clone.push("old", 3);
  clone.increment("count", 2u);
  std::cout << becomes(master, "count", "2") << becomes(clone, "count", "2") << ' '
            << shown(clone.get("old")) << '\n'
            << shown(clone.get("none")) << shown(clone.exists("old")) << shown(clone.keys())
            << shown(clone.get_index_from_value("old", 2u)) << '\n';
  std::cout << shown(clone.put_unique("old", 1)) << shown(clone.put_unique("unique", 1))
            << becomes(clone, "unique", "1") << '\n';
  clone.erase("old");
  std::cout << becomes(master, "old", "no_such_key") << becomes(clone, "old", "no_such_key")
            << '\n';
  clone.clear();
  std::cout << becomes(master, "count", "no_such_key") << becomes(clone, "count", "no_such_key")
            << shown(clone.keys()) << '\n';
}

} // namespace

int main() {
  std::cout << std::boolalpha;
  show_values();
  show_access();
  show_order();
  show_addresses();
  show_times();
  show_topics();
  show_zeek_messages();
  show_codes();
  show_messages();
  show_endpoints();
  show_failures();
  show_store();
  show_clone();
}
