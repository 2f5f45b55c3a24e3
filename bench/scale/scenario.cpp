// SPDX-License-Identifier: BSD-3-Clause
#include "scale/scenario.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "scale/figures.hpp"

namespace pubsub::scale {

namespace {

/// Whether a relay knows of the change that is looked at.
using knows = std::function<bool(std::size_t)>;

/// Looks at changes of one network.
class observer {
public:
  explicit observer(simulated_network& net) : net_(net) {}

  /// Makes the change, and lets it reach the relays.
  cost observe(const std::function<void()>& change, const knows& is_known) {
    net_.forget_traffic();
    const auto begin = net_.now();
    std::vector<double> hops;
    std::vector<bool> done(net_.size());
    const auto look = [&](std::size_t relay) {
      if (done[relay] || !is_known(relay))
        return;
      done[relay] = true;
      hops.push_back(std::chrono::duration<double>(net_.now() - begin) /
                     simulated_network::hop_time);
    };
    const auto look_at_all = [&] {
      for (std::size_t relay = 0; relay < net_.size(); ++relay)
        look(relay);
    };
    const auto begin_of_change = cpu_ms();
    change();
    const auto end_of_change = cpu_ms();
    look_at_all(); // who need not be told, and the relay itself
    const auto begin_of_rest = cpu_ms();
    net_.settle([&](const auto& reached) { std::ranges::for_each(reached, look); });
    const auto used = cpu_ms() - begin_of_rest + end_of_change - begin_of_change;
    look_at_all();
    const auto all = net_.sent();
    return {static_cast<double>(all.frames),
            static_cast<double>(all.bytes),
            static_cast<double>(net_.most_bytes_of_one()),
            used,
            quantile(hops, 0.5),
            hops.size() < net_.size() ? -1 : quantile(hops, 0.99)};
  }

private:
  simulated_network& net_;
};

class experiment {
public:
  experiment(const scenario& what, const std::function<void(std::string_view)>& say)
      : what_(what), say_(say), shape_(make_topology(what.family, what.relays, what.seed)),
        net_(shape_, what.seed), watch_(net_), dice_(what.seed) {
    result_.of = what;
    result_.wires = shape_.wires.size();
  }

  outcome run() {
    start();
    subscribe();
    add_subscriptions();
    publish();
    measure_routes();
    part_and_meet();
    churn();
    come_and_go();
    weigh();
    return result_;
  }

private:
  std::size_t any_relay() {
    return std::uniform_int_distribution<std::size_t>{0, what_.relays - 1}(dice_);
  }
  knows reaches_all() {
    return [this](std::size_t relay) { return net_.reaches_all(relay); };
  }
  /// Whether so many relays are known to have subscribed to the topic.
  knows counts(const std::string& topic, std::size_t subscribers) {
    return [this, topic, subscribers](std::size_t relay) {
      return net_.node(relay).routes.count(topic) == subscribers;
    };
  }

  void start() {
    say_("all relays connect");
    result_.start = watch_.observe([&] { net_.join_all(); }, reaches_all());
  }

  void subscribe() {
    say_("all relays subscribe");
    const topic_choice topic{what_.topics};
    const std::string last = "/subscribed";
    const auto all = [&] {
      for (std::size_t relay = 0; relay < what_.relays; ++relay) {
        filter wanted{last};
        for (std::size_t n = 0; n < what_.subscriptions; ++n)
          wanted.add(filter{topic(relay, n, dice_)});
        net_.node(relay).subscribe(wanted);
      }
    };
    result_.subscribing = watch_.observe(all, counts(last, what_.relays));
  }

  void add_subscriptions() {
    say_("one more subscription");
    std::vector<cost> fresh, known;
    for (std::size_t n = 0; n < what_.changes; ++n) {
      const auto relay = any_relay();
      const auto topic = "/fresh/" + std::to_string(n) + "/";
      queues_[topic] = {relay, {}};
      const auto subscribe = [&] {
        queues_[topic].second.push_back(net_.node(relay).subscribe(filter{topic}));
      };
      fresh.push_back(watch_.observe(subscribe, counts(topic, 1)));
      known.push_back(watch_.observe(subscribe, [&](std::size_t each) {
        return net_.node(each).routes.count(topic) == (each == relay ? 2 : 1);
      }));
    }
    result_.fresh_topic = median_of(fresh);
    result_.known_topic = median_of(known);
  }

  /// From relays anywhere to the subscribers just made, of which each relay has two.
  void publish() {
    say_("messages");
    for (const auto& [topic, subscribers] : queues_) {
      auto from = any_relay();
      while (from == subscribers.first)
        from = any_relay();
      if (net_.node(from).publish(topic, 1) == publish_result::taken)
        result_.expected += subscribers.second.size();
    }
    net_.settle();
    for (const auto& [topic, subscribers] : queues_)
      for (const auto& queue : subscribers.second) {
        const auto came = test::texts_in(*queue).size();
        result_.delivered += came;
        result_.duplicates += came > 1 ? came - 1 : 0;
      }
    for (std::size_t relay = 0; relay < what_.relays; ++relay)
      result_.expired += 2 * net_.node(relay).counts.sum().ttl_expired;
  }

  void measure_routes() {
    say_("routes");
    double sum = 0;
    double pairs = 0;
    for (std::size_t n = 0; n < what_.changes; ++n) {
      const auto from = any_relay();
      const auto far = distances(shape_, from);
      result_.diameter = std::max(result_.diameter, std::ranges::max(far));
      for (std::size_t k = 0; k < 10; ++k)
        if (const auto to = any_relay(); to != from) {
          sum += static_cast<double>(net_.route_length(from, to)) / static_cast<double>(far[to]);
          ++pairs;
        }
    }
    result_.stretch = sum / pairs;
  }

  void part_and_meet() {
    say_("two halves part and meet");
    std::set<std::size_t> half;
    for (std::size_t relay = 0; relay < what_.relays / 2; ++relay)
      half.insert(relay);
    std::vector<wire_ends> cut;
    const auto other_half_is_gone = [&](std::size_t relay) {
      const auto other = half.contains(relay) ? what_.relays - 1 : 0;
      return !net_.node(relay).routes.snapshot()->next_links->contains(net_.node(other).self);
    };
    result_.halves_part = watch_.observe([&] { cut = net_.cut_off(half); }, other_half_is_gone);
    const auto mend = [&] {
      for (const auto& [x, y] : cut)
        net_.join(x, y);
    };
    result_.halves_meet = watch_.observe(mend, reaches_all());
  }

  void come_and_go() {
    say_("a relay comes and goes");
    std::vector<cost> come, go;
    for (std::size_t n = 0; n < std::min<std::size_t>(what_.changes, 5); ++n) {
      const auto fresh = net_.add_relay();
      std::set<std::size_t> linked;
      while (linked.size() < std::min<std::size_t>(4, what_.relays))
        linked.insert(any_relay());
      const auto id = net_.node(fresh).self;
      const auto is_there = [&](bool there) {
        return [this, id, there](std::size_t relay) {
          return relay >= what_.relays ||
                 net_.node(relay).routes.snapshot()->next_links->contains(id) == there;
        };
      };
      const auto join = [&] {
        for (const auto each : linked)
          net_.join(fresh, each);
      };
      const auto leave = [&] {
        for (const auto each : linked)
          net_.cut(fresh, each);
      };
      come.push_back(watch_.observe(join, is_there(true)));
      go.push_back(watch_.observe(leave, is_there(false)));
    }
    result_.relay_comes = median_of(come);
    result_.relay_goes = median_of(go);
  }

  /// In a minute one relay of a hundred loses all its wires for a while; most changes overlap with
  /// none.
  void churn() {
    say_("a minute of churn");
    const auto times = std::max<std::size_t>(1, what_.relays / 100);
    const auto interval = std::chrono::minutes{1} / times;
    const auto minute = [&] {
      for (std::size_t n = 0; n < times; ++n) {
        const auto relay = any_relay();
        const auto cut = net_.cut_off({relay});
        net_.pass(interval / 2);
        for (const auto& [x, y] : cut)
          net_.join(x, y);
        net_.pass(interval - interval / 2);
      }
    };
    result_.churn = watch_.observe(minute, reaches_all());
    if (result_.churn.hops_p99 >= 0) // since the first change, which says nothing
      result_.churn.hops_p50 = result_.churn.hops_p99 = 0;
  }

  /// Some relays, and the one with most wires.
  void weigh() {
    say_("memory");
    std::vector<std::size_t> wires(what_.relays);
    for (const auto& [x, y] : shape_.wires) {
      ++wires[x];
      ++wires[y];
    }
    std::set<std::size_t> some{
        static_cast<std::size_t>(std::ranges::max_element(wires) - wires.begin())};
    while (some.size() < std::min<std::size_t>(5, what_.relays))
      some.insert(any_relay());
    queues_.clear();
    for (const auto each : some)
      result_.bytes_of_worst = std::max(result_.bytes_of_worst, net_.remove_and_weigh(each));
  }

  const scenario what_;
  const std::function<void(std::string_view)>& say_;
  const topology shape_;
  simulated_network net_;
  observer watch_;
  std::mt19937_64 dice_;
  outcome result_;
  /// By topic: the relay and its subscribers.
  std::map<std::string, std::pair<std::size_t, std::vector<std::shared_ptr<message_queue>>>>
      queues_;
};

} // namespace

outcome run(const scenario& what, const std::function<void(std::string_view)>& say) {
  return experiment{what, say}.run();
}

} // namespace pubsub::scale
