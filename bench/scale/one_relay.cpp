// SPDX-License-Identifier: BSD-3-Clause
#include "scale/one_relay.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <malloc.h>

#include "scale/figures.hpp"
#include "scale/simulated_network.hpp"
#include "scale/topologies.hpp"
#include "support/fake_node.hpp"

namespace pubsub::scale {

namespace {

using frames = std::vector<std::vector<std::byte>>;

/// A relay that is known by its reports alone.
struct told_relay {
  endpoint_id id;
  std::vector<endpoint_id> links;
  std::vector<std::string> topics;
  std::uint64_t links_number = 1;
  std::uint64_t filter_number = 1;

  std::vector<std::byte> whole_links() const {
    return wire::make_report(neighbours_report{{id, 1, links_number, true}, true, links, {}});
  }
  std::vector<std::byte> whole_filter() const {
    return wire::make_report(filter_report{{id, 1, filter_number, true}, topics, {}});
  }
  std::vector<std::byte> change_links(std::vector<endpoint_id> added,
                                      std::vector<endpoint_id> removed) {
    return wire::make_report(neighbours_report{
        {id, 1, ++links_number, false}, true, std::move(added), std::move(removed)});
  }
  std::vector<std::byte> add_topic(const std::string& topic) {
    return wire::make_report(filter_report{{id, 1, ++filter_number, false}, {topic}, {}});
  }
};

/// One that has as many wires as relays have on average, if there is one.
std::size_t average_relay(const topology& net) {
  std::vector<std::size_t> wires(net.relays);
  for (const auto& [x, y] : net.wires) {
    ++wires[x];
    ++wires[y];
  }
  const auto found = std::ranges::find(wires, 2 * net.wires.size() / net.relays);
  return found == wires.end() ? 0 : static_cast<std::size_t>(found - wires.begin());
}

class one_relay {
public:
  one_relay(const scenario& what, const std::function<void(std::string_view)>& say)
      : what_(what), say_(say), shape_(make_topology(what.family, what.relays, what.seed)),
        here_(average_relay(shape_)), dice_(what.seed), far_(distances(shape_, here_)) {
    result_.of = what;
    result_.wires = shape_.wires.size();
    result_.diameter = std::ranges::max(far_); // as far as this relay sees
    tell_all();
  }

  outcome run() {
    say_("the relay comes");
    const auto before = mallinfo2().uordblks;
    node_ = std::make_unique<test::fake_node>(all_[here_].id, options_of_relay());
    result_.start = join();
    result_.bytes_of_worst = mallinfo2().uordblks - before;
    say_("single changes");
    std::vector<cost> fresh, goes, comes;
    const auto others = relays_behind_neighbours(); // none in the smallest networks
    for (std::size_t n = 0; n < what_.changes && !others.empty(); ++n) {
      const auto where = others[dice_() % others.size()];
      const auto topic = "/fresh/" + std::to_string(n) + "/";
      fresh.push_back(change(where, {all_[where].add_topic(topic)},
                             [&] { return node_->routes.count(topic) == 1; }));
      goes.push_back(change(where, end_links(where), [&] { return !knows_way_to(where); }));
      comes.push_back(change(where, begin_links(where), [&] { return knows_way_to(where); }));
    }
    result_.fresh_topic = median_of(fresh);
    result_.relay_goes = median_of(goes);
    result_.relay_comes = median_of(comes);
    return result_;
  }

private:
  void tell_all() {
    for (std::size_t relay = 0; relay < what_.relays; ++relay) {
      endpoint_id::bytes_type id{};
      std::ranges::generate(id, [&] { return static_cast<std::uint8_t>(dice_()); });
      all_.push_back({endpoint_id{id}, {}, {}});
    }
    for (const auto& [x, y] : shape_.wires) {
      all_[x].links.push_back(all_[y].id);
      all_[y].links.push_back(all_[x].id);
      for (const auto& [one, other] : {std::pair{x, y}, std::pair{y, x}})
        if (one == here_)
          neighbours_.push_back(other);
    }
    const topic_choice topic{what_.topics};
    for (std::size_t relay = 0; relay < what_.relays; ++relay)
      for (std::size_t n = 0; n < what_.subscriptions; ++n)
        all_[relay].topics.push_back(topic(relay, n, dice_));
    for (auto& each : all_) {
      std::ranges::sort(each.topics);
      each.topics.erase(std::ranges::unique(each.topics).begin(), each.topics.end());
    }
  }
  std::vector<std::size_t> relays_behind_neighbours() const {
    std::vector<std::size_t> result;
    for (std::size_t relay = 0; relay < what_.relays; ++relay)
      if (far_[relay] > 1)
        result.push_back(relay);
    return result;
  }
  bool knows_way_to(std::size_t relay) const {
    return node_->routes.snapshot()->next_links->contains(all_[relay].id);
  }

  /// The relay shakes hands with its neighbours, each of which reports the whole network.
  cost join() {
    frames network;
    for (std::size_t relay = 0; relay < what_.relays; ++relay)
      if (relay != here_) {
        network.push_back(all_[relay].whole_links());
        network.push_back(all_[relay].whole_filter());
      }
    network.push_back(wire::make_known());
    cost result = count(network);
    const auto begin = cpu_ms();
    for (const auto each : neighbours_) {
      peers_.push_back(
          std::make_unique<test::fake_peer>(*node_, all_[each].id, 2, filter{}, false));
      say(network, *peers_.back());
      rest();
    }
    result.cpu_ms = cpu_ms() - begin;
    if (node_->routes.snapshot()->next_links->size() + 1 != what_.relays)
      result.hops_p99 = -1; // it does not know all
    return result;
  }

  /// `is_known`: whether the relay knows of it.
  cost change(std::size_t where, const frames& reports, const std::function<bool()>& is_known) {
    cost result = count(reports);
    const auto begin = cpu_ms();
    for (const auto& each : peers_)
      say(reports, *each);
    rest();
    result.cpu_ms = cpu_ms() - begin;
    std::vector<double> hops;
    for (const auto each : distances(shape_, where))
      hops.push_back(static_cast<double>(each));
    result.hops_p50 = quantile(hops, 0.5);
    result.hops_p99 = is_known() ? quantile(hops, 0.99) : -1;
    return result;
  }
  /// From each neighbour.
  cost count(const frames& all) const {
    cost result;
    for (const auto& each : all) {
      result.frames += static_cast<double>(neighbours_.size());
      result.bytes += static_cast<double>(neighbours_.size() * each.size());
    }
    return result;
  }
  /// A relay reads so many reports in a second: what is too much waits.
  void say(const frames& all, test::fake_peer& by) {
    for (const auto& frame : all) {
      while (by.carrier->paused())
        node_->loop->advance(std::chrono::milliseconds{5});
      by.carrier->receive(frame);
    }
  }
  /// All is written, and the routes are known.
  void rest() {
    node_->loop->advance(std::chrono::milliseconds{5});
    for (const auto& each : peers_)
      each->carrier->take_written();
    (void)node_->routes.snapshot();
  }

  frames end_links(std::size_t of) {
    frames result;
    for (auto& each : all_)
      if (std::ranges::count(all_[of].links, each.id) > 0)
        result.push_back(each.change_links({}, {all_[of].id}));
    return result;
  }
  frames begin_links(std::size_t of) {
    frames result;
    for (auto& each : all_)
      if (std::ranges::count(all_[of].links, each.id) > 0)
        result.push_back(each.change_links({all_[of].id}, {}));
    ++all_[of].links_number;
    result.push_back(all_[of].whole_links());
    return result;
  }

  const scenario what_;
  const std::function<void(std::string_view)>& say_;
  const topology shape_;
  const std::size_t here_; // the one relay
  std::mt19937_64 dice_;
  const std::vector<std::size_t> far_; // from there
  std::vector<told_relay> all_;
  std::vector<std::size_t> neighbours_; // of the one relay
  std::unique_ptr<test::fake_node> node_;
  std::vector<std::unique_ptr<test::fake_peer>> peers_;
  outcome result_;
};

} // namespace

outcome run_one_relay(const scenario& what, const std::function<void(std::string_view)>& say) {
  return one_relay{what, say}.run();
}

} // namespace pubsub::scale
