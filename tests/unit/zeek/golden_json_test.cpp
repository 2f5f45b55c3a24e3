// SPDX-License-Identifier: BSD-3-Clause
#include "support/golden.hpp"

#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("messages of a real Zeek are recognised") {
  std::size_t events = 0;
  for (const auto& x : test::load_golden("zeek_messages.json")) {
    const auto view = *data_view::make(x.bytes);
    const auto kind = zeek::kind_of(view);
    REQUIRE_MESSAGE(kind, x.name);
    CHECK_MESSAGE(x.name.starts_with("Event") == (kind == zeek::message_kind::event), x.name);
    CHECK_MESSAGE((x.name == "LogCreate") == (kind == zeek::message_kind::log_create), x.name);
    CHECK_MESSAGE((x.name == "LogWrite") == (kind == zeek::message_kind::log_write), x.name);
    CHECK_MESSAGE(x.name.starts_with("Batch") == (kind == zeek::message_kind::batch), x.name);
    if (kind != zeek::message_kind::event)
      continue;
    ++events;
    const auto in_place = *zeek::view_event(view);
    const auto in_tree = *zeek::parse_event(view.to_data());
    CHECK(in_place.name() == in_tree.name);
    CHECK(in_place.args_size() == in_tree.args.size());
    CHECK(in_place.network_time() == in_tree.network_time);
    CHECK(in_tree.network_time.has_value() ==
          (x.name.find("timestamp") != x.name.npos || x.text.find("((1, 15308") != x.text.npos));
  }
  CHECK(events == 6);
}
