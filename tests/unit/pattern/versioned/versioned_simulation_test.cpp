// A group of replicas and its clients without threads, sockets or clocks: every message may be lost
// or late, replicas and clients die, stop and come back, all by a seed.
// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/client_window.hpp"
#include "pattern/versioned/protocol/replica_protocol.hpp"

#include "support/version_history.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

using sim_time = time_point;

/// What goes where, and when it arrives.
class simulation {
public:
  explicit simulation(std::uint64_t seed) : random_(seed) {}

  struct party : versioned_port {
    party(simulation& in, endpoint_id which) : world(in), id(which) {}
    virtual ~party() = default;
    virtual void receive(const data_message& msg, sim_time now) = 0;
    virtual void tick(sim_time now) = 0;

    bool send(versioned_target to, const endpoint_id& receiver,
              std::span<const std::byte> message) override {
      return world.send(message, [&](const party& x) {
        return to == versioned_target::everyone || x.id == receiver ||
               (to == versioned_target::all_replicas && x.is_replica);
      });
    }

    simulation& world;
    const endpoint_id id;
    bool is_replica = false;
    bool dead = false;
    sim_time stopped_until{};
  };

  template <class Wanted>
  bool send(std::span<const std::byte> message, Wanted wanted) {
    const auto value = data_view::make(message);
    REQUIRE(value.has_value());
    const auto msg = make_data_message("t", value->to_data());
    for (auto& each : parties)
      if (!each->dead && wanted(*each) && !chance(loss))
        under_way_.emplace(now + 50us + 1us * below(300) + (chance(late) ? 40ms : 0ms),
                           std::pair{each.get(), msg});
    return true;
  }

  void step() {
    now += 1ms;
    while (!under_way_.empty() && under_way_.begin()->first <= now) {
      auto next = under_way_.extract(under_way_.begin());
      auto& [to, msg] = next.mapped();
      if (to->dead)
        continue;
      if (to->stopped_until > now)
        under_way_.emplace(to->stopped_until, next.mapped());
      else
        to->receive(msg, now);
    }
    for (std::size_t i = 0; i < parties.size(); ++i)
      if (!parties[i]->dead && parties[i]->stopped_until <= now)
        parties[i]->tick(now);
  }

  bool chance(double p) { return std::uniform_real_distribution{}(random_) < p; }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  endpoint_id fresh_id() {
    endpoint_id::bytes_type bytes{};
    for (auto& each : bytes)
      each = static_cast<std::uint8_t>(random_());
    return endpoint_id{bytes};
  }

  sim_time now = sim_time{} + 1h;
  double loss = 0;
  double late = 0;
  std::vector<std::unique_ptr<party>> parties;

private:
  std::mt19937_64 random_;
  std::multimap<sim_time, std::pair<party*, data_message>> under_way_;
};

replica_options sim_options() {
  replica_options result;
  result.liveness_timeout = 500ms;
  return result;
}

struct sim_replica final : simulation::party {
  sim_replica(simulation& in, version_history& history, const std::string& name)
      : party(in, in.fresh_id()), replica(id, name, sim_options(), *this, in.now),
        seen(history.replica(name + "/" + to_string(id))) {
    is_replica = true;
  }
  void receive(const data_message& msg, sim_time now) override {
    replica.receive(msg, now);
    replica.settle(now);
  }
  void tick(sim_time now) override {
    replica.tick(now);
    std::vector<versioned_message> out;
    replica.take(out, 1'000);
    for (const auto& each : out)
      seen.add(each);
  }

  replica_protocol replica;
  version_history::replica_part seen;
};

struct sim_client final : simulation::party {
  sim_client(simulation& in, versioning scheme, std::uint64_t messages)
      : party(in, in.fresh_id()), options{.scheme = scheme, .timeout = 1h},
        window(id, "g", options, *this, in.now), left(messages) {}
  void receive(const data_message& msg, sim_time now) override { window.receive(msg, now); }
  void tick(sim_time now) override {
    for (auto some = world.below(4); some > 0 && left > 0 && window.in_flight() < 50; --some) {
      data_writer value;
      value.write_count(left--);
      window.add(value.bytes(), now);
    }
    window.settle(now);
    window.tick(now);
    for (const auto& run : window.take_finished())
      for (std::uint64_t i = 0; i < run.count; ++i)
        acknowledged[run.first + i] = {run.at.epoch, run.at.number + i};
  }
  bool done() const { return left == 0 && window.in_flight() == 0; }

  const versioned_group_options options;
  client_window window;
  std::uint64_t left;
  std::map<std::uint64_t, message_version> acknowledged;
};

/// One run; what is broken is put right before it ends, for only then must everything arrive.
struct sim_run {
  explicit sim_run(std::uint64_t seed) : world(seed) {
    for (const auto* name : {"a", "b", "c"})
      start(name);
    for (const auto scheme : all_versionings)
      if (scheme != versioning::none)
        clients.push_back(add<sim_client>(world, scheme, 150));
  }

  template <class Party, class... Args>
  Party* add(Args&&... args) {
    auto made = std::make_unique<Party>(std::forward<Args>(args)...);
    auto* result = made.get();
    world.parties.push_back(std::move(made));
    return result;
  }
  void start(const std::string& name) { replicas[name] = add<sim_replica>(world, history, name); }

  /// In the eyes of the leader: what others think of themselves may be old.
  std::size_t members() const {
    const sim_replica* leader = nullptr;
    std::size_t lead = 0;
    for (const auto& [name, each] : replicas)
      if (!each->dead && each->stopped_until <= world.now && each->replica.epoch().leads()) {
        leader = each;
        ++lead;
      }
    if (lead != 1 || leader->replica.epoch().list_pending())
      return 0;
    const auto& members = leader->replica.epoch().list.members;
    if (members.size() != 3)
      return 0;
    return static_cast<std::size_t>(std::ranges::count_if(replicas, [&](const auto& each) {
      return !each.second->dead && each.second->stopped_until <= world.now &&
             contains(members, each.second->id) &&
             each.second->replica.state() == replica_state::member;
    }));
  }
  /// Something breaks, as long as more than half remain.
  void disturb() {
    if (members() < 3)
      return;
    auto which = replicas.begin();
    std::advance(which, static_cast<std::ptrdiff_t>(world.below(3)));
    if (world.chance(0.5)) // the one that matters most
      which =
          std::ranges::find_if(replicas, [](auto& x) { return x.second->replica.epoch().leads(); });
    if (which == replicas.end())
      return;
    if (world.chance(0.5)) {
      which->second->dead = true;
      start(which->first);
    } else {
      which->second->stopped_until = world.now + 1ms * (100 + world.below(1'500));
    }
  }
  bool done() const {
    return std::ranges::all_of(clients, [](auto* x) { return x->done(); });
  }
  bool level() const {
    return std::ranges::all_of(replicas, [&](const auto& each) {
      return each.second->replica.log().applied() ==
             replicas.begin()->second->replica.log().applied();
    });
  }
  void run() {
    world.loss = world.chance(0.5) ? 0.01 : 0;
    world.late = world.chance(0.5) ? 0.02 : 0;
    for (int ms = 0; ms < 60'000 && !(done() && ms > 4'000); ++ms) {
      if (ms < 4'000 && world.chance(0.003))
        disturb();
      if (ms == 4'000)
        world.loss = world.late = 0;
      if (ms == 2'000 && world.chance(0.3))
        lost_client = add<sim_client>(world, versioning::version_request, 50);
      if (lost_client != nullptr && world.chance(0.02))
        lost_client->dead = true;
      world.step();
    }
    for (int ms = 0; ms < 20'000 && !(level() && members() == 3); ++ms)
      world.step();
  }
  void check() {
    CHECK(done());
    CHECK(members() == 3);
    CHECK(level());
    history.check_contiguous();
    for (auto* each : clients) {
      CHECK(each->acknowledged.size() == 150);
      for (const auto& [number, at] : each->acknowledged)
        history.acknowledged(each->id, number, at);
    }
    for (const auto& each : history.violations())
      FAIL_CHECK(each);
  }

  simulation world;
  version_history history;
  std::map<std::string, sim_replica*> replicas;
  std::vector<sim_client*> clients;
  sim_client* lost_client = nullptr;
};

} // namespace

TEST_CASE("replicas agree whatever is lost, late, killed or stopped") {
  const auto* text = std::getenv("PUBSUB_SIMULATIONS");
  const std::uint64_t runs = text != nullptr ? std::strtoull(text, nullptr, 10) : 20;
  const auto* first = std::getenv("PUBSUB_SIMULATION");
  for (std::uint64_t seed = first != nullptr ? std::strtoull(first, nullptr, 10) : 1; seed <= runs;
       ++seed) {
    CAPTURE(seed);
    sim_run one{seed};
    one.run();
    one.check();
  }
}
