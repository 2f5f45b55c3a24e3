// Publishing where the test is about what happens to the message later.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <pubsub/publishable.hpp>

namespace pubsub::test {

/// A number in half a kilobyte of text.
inline std::string payload(std::uint64_t i) {
  return std::to_string(i) + std::string(500, '.');
}

/// Fails the test if the message was refused; what full queues do is the test's business.
inline void sent(publish_result result) {
  if (result == publish_result::refused)
    FAIL_CHECK("a message was refused");
}

} // namespace pubsub::test
