// Publishing where the test is about what happens to the message later.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <pubsub/publishable.hpp>

namespace pubsub::test {

/// Fails the test if the message was refused; what full queues do is the test's business.
inline void sent(publish_result result) {
  if (result == publish_result::refused)
    FAIL_CHECK("a message was refused");
}

} // namespace pubsub::test
