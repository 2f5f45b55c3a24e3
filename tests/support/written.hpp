// What a writer has written, as its reader sees it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>

#include <doctest/doctest.h>

namespace pubsub::test {

/// Views bytes of the writer: lives no longer.
inline data_view view_of(const data_writer& out) {
  const auto view = data_view::make(out.bytes());
  REQUIRE(view.has_value());
  return *view;
}

} // namespace pubsub::test
