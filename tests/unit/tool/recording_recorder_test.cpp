// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <csignal>
#include <thread>

#include <pubsub/record/summary.hpp>

#include "recording/recorder.hpp"
#include "support/recordings.hpp"
#include "support/temporary_folder.hpp"

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE("a recorder notes what its queue has dropped in front of the next message") {
  temporary_folder folder;
  endpoint ep;
  auto sub = ep.make_subscriber({topic{"/t"}},
                                {.policy = overflow_policy::drop_newest, .capacity_messages = 2});
  data_writer out;
  out.write_count(1);
  for (int i = 0; i < 10; ++i)
    (void)ep.publish("/t", out.bytes());
  REQUIRE(sub.counters().dropped_newest == 8);
  auto writer = record::writer::open(folder / "a.mcap");
  REQUIRE(writer);
  tool::recording to{std::move(*writer)};
  auto why = tool::recorder_end::failed;
  std::thread recording{[&] { // where its signals are blocked, and nowhere else
    const tool::stop_signal stop;
    tool::command_signal save{SIGUSR1};
    tool::recorder session{to, sub, {folder / "a.mcap", 2, tool::deadline_after(20.0)}};
    why = session.run(stop, save);
    if (!session.finish())
      why = tool::recorder_end::failed;
  }};
  recording.join();
  CHECK(why == tool::recorder_end::enough);
  const auto found = record::summarize(folder / "a.mcap");
  REQUIRE(found);
  CHECK(found->messages == 2);
  REQUIRE(found->gaps.size() == 1);
  CHECK(found->gaps[0].missing == record::gap{0, 8});
}
