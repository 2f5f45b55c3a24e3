// SPDX-License-Identifier: BSD-3-Clause
#include "tap/tap_model.hpp"

#include <doctest/doctest.h>

using namespace pubsub::tool;
using namespace std::chrono_literals;

namespace {

const tap_model::time_point begin{100s};

int shown(tap_model& model, int messages, tap_model::time_point now) {
  int result = 0;
  for (int i = 0; i < messages; ++i)
    result += model.take("/t", 10, now) ? 1 : 0;
  return result;
}

} // namespace

TEST_CASE("no more messages a second are shown than asked for") {
  tap_model model{{.shown_per_s = 10}, begin};
  CHECK(shown(model, 100, begin) == 10);
  CHECK(shown(model, 100, begin + 500ms) == 5);
  CHECK(shown(model, 100, begin + 1h) == 10);
  CHECK(model.summary(7, 0) == "307 came: 25 shown, 275 passed over, 7 dropped here");
  CHECK(model.summary(0, 2).ends_with("; 2 more were lost on the way"));
}

TEST_CASE("less than one a second is shown, too") {
  tap_model model{{.shown_per_s = 0.5}, begin};
  CHECK(shown(model, 100, begin) == 1);
  CHECK(shown(model, 100, begin + 1s) == 0);
  CHECK(shown(model, 100, begin + 2s) == 1);
}

TEST_CASE("of a sample every so many messages are looked at, the first one included") {
  tap_model model{{.shown_per_s = 1000, .one_of = 3}, begin};
  CHECK(model.take("/t", 1, begin));
  CHECK_FALSE(model.take("/t", 1, begin));
  CHECK_FALSE(model.take("/t", 1, begin));
  CHECK(model.take("/t", 1, begin));
}

TEST_CASE("nothing is shown where nothing is to be shown") {
  tap_model model{{.shown_per_s = 0}, begin};
  CHECK(shown(model, 5, begin + 1h) == 0);
  CHECK(model.summary(1, 0) == "6 came, 1 of them dropped here");
}

TEST_CASE("topics have counts and rates, the most frequent first") {
  tap_model model{{}, begin};
  model.take("/rare", 500, begin);
  for (int i = 0; i < 4; ++i)
    model.take("/often", 100, begin);
  model.take("/\x1b", 1, begin);
  CHECK(model.table(1, begin + 2s) == "  MESSAGES   MSG/s  BYTE/s  TOPIC\n"
                                      "         4       2     200  /often\n"
                                      "         2       1     250  (2 other topics)\n");
  CHECK(model.table(9, begin + 2s).find("/\\x1b\n") != std::string::npos);
  CHECK(model.json(0, 0, begin + 2s)
            .find(R"({"topic":"/often","messages":4,"bytes":400,"per_s":2,"bytes_per_s":200})") !=
        std::string::npos);
}

TEST_CASE("there is a limit to the topics that are told apart, and none to those counted") {
  tap_model model{{.topics = 2}, begin};
  for (const auto* topic : {"/a", "/b", "/c", "/d", "/a"})
    model.take(topic, 1, begin);
  CHECK(model.came() == 5);
  CHECK(model.table(9, begin + 1s).find("         2       2       2  (all others)\n") !=
        std::string::npos);
  CHECK(model.json(0, 0, begin + 1s).find(R"("on_other_topics":2)") != std::string::npos);
}
