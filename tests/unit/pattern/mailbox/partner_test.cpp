// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/partner.hpp"
#include "pattern/mailbox/tuning.hpp"

#include "support/eventually.hpp"
#include "support/ids.hpp"

#include <pubsub/data_writer.hpp>
#include <pubsub/subscriber.hpp>

#include <doctest/doctest.h>

#include <optional>

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::pattern;
using namespace std::chrono_literals;

namespace {

constexpr topic_kind topic_of{"partner"};

std::vector<std::byte> message(std::size_t size_bytes = 1) {
  data_writer out;
  out.write_string(std::string(size_bytes, 'x'));
  return out.take();
}

/// Partners at the same endpoint; the clock is driven by hand.
struct local_partners {
  endpoint ep;
  std::shared_ptr<endpoint> at = ep.share();
  partner_map partners{at, topic_of};
  partner::time now{1h};

  subscriber listen(std::uint8_t id, const queue_options& options = {}) {
    return ep.make_subscriber(filter{topic_of(id_of(id))}, options);
  }
  std::vector<endpoint_id> gone() { return partners.find_gone(now); }
  std::vector<endpoint_id> forgotten() { return partners.find_forgotten(now); }
};

} // namespace

TEST_CASE("a message to a partner arrives on its topic alone") {
  local_partners x;
  auto one = x.listen(1);
  auto other = x.listen(2);
  CHECK(x.partners[id_of(1)].send(message()) == partner::outcome::sent);
  CHECK(one.get_for(patience).has_value());
  CHECK(other.available() == 0);
}

TEST_CASE("a partner that does not listen is out of reach, and no message waits for it") {
  local_partners x;
  auto& to = x.partners[id_of(1)];
  CHECK(to.send(message()) == partner::outcome::out_of_reach);
  auto late = x.listen(1);
  CHECK(to.send(message()) == partner::outcome::sent);
  CHECK(late.available() == 1);
}

TEST_CASE("a partner whose queue is full says so at once") {
  local_partners x;
  queue_options small;
  small.capacity_messages = 1;
  auto in = x.listen(1, small);
  auto& to = x.partners[id_of(1)];
  CHECK(to.send(message()) == partner::outcome::sent);
  CHECK(to.send(message()) == partner::outcome::full);
  CHECK(in.get_for(patience).has_value());
  CHECK(to.send(message()) == partner::outcome::sent);
}

TEST_CASE("a closed endpoint reaches no partner") {
  local_partners x;
  auto in = x.listen(1);
  auto& to = x.partners[id_of(1)];
  x.ep.close();
  CHECK(to.send(message()) == partner::outcome::out_of_reach);
}

TEST_CASE("a partner that leaves is gone after the time for its last words, and not before") {
  local_partners x;
  std::optional<subscriber> in{x.listen(1)};
  x.partners[id_of(1)];
  CHECK(x.gone().empty());
  in.reset();
  CHECK(x.gone().empty());
  x.now += tuning::time_for_last_words - 1ns;
  CHECK(x.gone().empty());
  x.now += 1ns;
  CHECK(x.gone() == std::vector{id_of(1)});
}

TEST_CASE("a partner that comes back in time is not gone") {
  local_partners x;
  std::optional<subscriber> in{x.listen(1)};
  x.partners[id_of(1)];
  CHECK(x.gone().empty());
  in.reset();
  CHECK(x.gone().empty());
  in = x.listen(1);
  x.now += tuning::time_for_last_words;
  CHECK(x.gone().empty());
  in.reset();
  CHECK(x.gone().empty()); // the time begins anew
}

TEST_CASE("a partner that was never within reach is not gone, but forgotten some day") {
  local_partners x;
  x.partners[id_of(1)];
  CHECK(x.gone().empty());
  x.now += tuning::memory_of_partners - 1ns;
  CHECK(x.gone().empty());
  CHECK(x.forgotten().empty());
  x.now += 1ns;
  CHECK(x.forgotten() == std::vector{id_of(1)});
  x.partners.erase(id_of(1));
  CHECK(x.forgotten().empty());
}
