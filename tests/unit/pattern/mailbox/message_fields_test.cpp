// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/message_fields.hpp"

#include "support/ids.hpp"
#include "support/written.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::pattern;

namespace {

struct example {
  static constexpr std::uint64_t kind = 7;
  std::uint64_t number = 0;
  endpoint_id id;
  std::vector<sequence_range> runs;

  static auto fields(auto& x) { return std::tie(x.number, x.id, x.runs); }
  bool adds_up() const { return number != 13; }
};

struct namesake {
  static constexpr std::uint64_t kind = 8;
  std::uint64_t number = 0;
  endpoint_id id;
  std::vector<sequence_range> runs;

  static auto fields(auto& x) { return std::tie(x.number, x.id, x.runs); }
};

} // namespace

TEST_CASE("a message is read as it was written") {
  data_writer out;
  write(out, example{5, id_of(3), {{1, 2}, {9, 1}}});
  const auto x = parse<example>(view_of(out));
  REQUIRE(x);
  CHECK(x->number == 5);
  CHECK(x->id == id_of(3));
  CHECK(x->runs == std::vector<sequence_range>{{1, 2}, {9, 1}});
}

TEST_CASE("a message of another kind, or one that does not add up, is none") {
  data_writer out;
  write(out, example{5, id_of(3), {}});
  CHECK_FALSE(parse<namesake>(view_of(out)));
  out.clear();
  write(out, example{13, id_of(3), {}});
  CHECK_FALSE(parse<example>(view_of(out)));
}

TEST_CASE("a message with a field too few, too many or of another type is none") {
  const data id{std::string(16, 'x')};
  const auto runs = [](vector run) { return vector(1, data{std::move(run)}); };
  const data none[] = {
      data{vector{count{7}, count{5}, id}},
      data{vector{count{7}, count{5}, id, vector{}, count{1}}},
      data{vector{count{7}, id, count{5}, vector{}}},
      data{vector{count{7}, count{5}, std::string(15, 'x'), vector{}}},
      data{vector{count{7}, count{5}, id, vector{count{1}, count{2}}}},
      data{vector{count{7}, count{5}, id, runs(vector{count{1}})}},
      data{vector{count{7}, count{5}, id, runs(vector{count{1}, count{0}})}},
      data{vector{count{7}, count{5}, id, runs(vector{~count{0}, count{2}})}},
      data{vector{}},
      data{count{7}},
  };
  for (const auto& each : none) {
    data_writer out;
    out.write(each);
    CHECK_FALSE(parse<example>(view_of(out)));
  }
}
