// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/pattern_topic.hpp"

#include <doctest/doctest.h>

using namespace pubsub::pattern;

TEST_CASE("the topic of a name is no prefix of the topic of another name") {
  CHECK(topic_kind{"pipeline/queue-name"}("tasks") == "pipeline/queue-name/tasks/");
  CHECK(topic_kind{"pipeline/queue-name"}("tasks/dead") == "pipeline/queue-name/tasks%2Fdead/");
  CHECK(topic_kind{"remote/service"}("100%/x") == "remote/service/100%25%2Fx/");
}
