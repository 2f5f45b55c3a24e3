#include "pattern/mailbox/pattern_topic.hpp"

#include <doctest/doctest.h>

using pubsub::pattern::pattern_topic;

TEST_CASE("the topic of a name is no prefix of the topic of another name") {
  CHECK(pattern_topic("pipeline", "queue-name", "tasks") == "pipeline/queue-name/tasks/");
  CHECK(pattern_topic("pipeline", "queue-name", "tasks/dead") ==
        "pipeline/queue-name/tasks%2Fdead/");
  CHECK(pattern_topic("remote", "service", "100%/x") == "remote/service/100%25%2Fx/");
}
