// The keys of the prefix index. Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// Ends the text in a key; `key_text` does not contain it.
inline constexpr char key_end = '\0';

/// `topic` with the bytes 0 and 1 spelled as two bytes each, so that byte 0 is free to end it. The
/// order stays, and so does what is a prefix of what. A view of `topic` if there is nothing to do,
/// else of `storage`.
std::string_view key_text(std::string_view topic, std::string& storage);

/// The bytes of an id, for an index of ids: none is a prefix of another.
inline std::string_view id_text(const endpoint_id& id) noexcept {
  return {reinterpret_cast<const char*>(id.bytes().data()), id.bytes().size()};
}

/// `key_text` of the prefix, `key_end`, and `who` in as few bytes as it needs after their number.
/// Keys of a prefix sort by `who`; no key is a prefix of another.
std::string prefix_key(std::string_view prefix, std::uint64_t who);

} // namespace pubsub
