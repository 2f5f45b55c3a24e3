// What benchmark messages carry: synthetic text or real records.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <pubsub/error.hpp>

namespace pubsub::tool::bench {

/// Values encoded once and sent in a cycle.
class payloads {
public:
  /// One string of `size_bytes` bytes.
  static payloads synthetic(std::size_t size_bytes);
  /// The records of a Zeek log as events, or an event dump (`.jsonl`). Errors: cannot_open_file,
  /// not_supported, invalid_data (no usable record). Lines that cannot be read are left out.
  static expected<payloads> from_file(const std::string& file);

  std::size_t size() const noexcept { return values_.size(); }
  std::span<const std::byte> operator[](std::size_t i) const noexcept { return values_[i]; }
  /// Bytes of one payload as the user sees it: the text, or the average encoded record.
  std::size_t size_bytes() const noexcept { return size_bytes_; }
  /// Lines that were left out.
  std::size_t skipped() const noexcept { return skipped_; }

private:
  std::vector<std::vector<std::byte>> values_;
  std::size_t size_bytes_ = 0;
  std::size_t skipped_ = 0;
};

} // namespace pubsub::tool::bench
