// Two nodes of which frames of version 2 speak, and how their ids look in them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include <pubsub/value/endpoint_id.hpp>

#include "support/hex.hpp"

namespace pubsub::test {

inline const auto a = *endpoint_id::parse("00112233-4455-6677-8899-aabbccddeeff");
inline const auto b = *endpoint_id::parse("ffeeddcc-bbaa-9988-7766-554433221100");
inline const std::string a_hex = "00112233445566778899aabbccddeeff";
inline const std::string b_hex = "ffeeddccbbaa99887766554433221100";

/// What is behind the length.
inline std::span<const std::byte> payload_of(const buffer& frame) {
  return std::span{frame}.subspan(4);
}

} // namespace pubsub::test
