// Whether replicas hold the same messages under the same versions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>

namespace pubsub::tool::bench {

/// A message as a replica has handed it out, or as a client had it acknowledged.
struct history_entry {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  std::uint64_t client = 0; ///< a digest of its id; 0 and 0 where the number is void
  std::uint64_t client_number = 0;
  std::uint64_t digest = 0; ///< of the value

  auto operator<=>(const history_entry&) const = default;
};

using history = std::vector<history_entry>; ///< in the order in which it happened

/// What is not as promised; each is counted, the first ones as sentences.
struct history_verdict {
  std::uint64_t checked = 0; ///< entries of all replicas
  std::uint64_t violations = 0;
  std::vector<std::string> sentences; ///< at most 10

  bool fine() const noexcept { return violations == 0; }
};

enum class versions : unsigned char { promised, none };

/// Every replica has handed out contiguous numbers, in order, epochs never falling; all the same
/// messages under the same versions; none twice; and all that was acknowledged, under the version
/// that the client was told. Without versions: all that was acknowledged; what a client has sent
/// again, because an acknowledgement was late, may come twice.
history_verdict check_histories(std::span<const history> replicas, const history& acknowledged,
                                versions how);

/// In the manner of FNV-1a, eight bytes at a time.
std::uint64_t digest_of(std::span<const std::byte> bytes) noexcept;

/// Entries as they are in memory: for processes of one machine. Errors: cannot_write_file,
/// cannot_open_file.
expected<void> write_history(const std::string& file, const history& what);
expected<history> read_history(const std::string& file);

} // namespace pubsub::tool::bench
