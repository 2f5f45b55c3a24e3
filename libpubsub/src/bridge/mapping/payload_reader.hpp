// From what an engine has kept to a value. The bytes are whatever others have written.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <pubsub/bridge/engines.hpp>
#include <pubsub/error.hpp>

namespace pubsub::bridge {

/// Not for concurrent use.
class payload_reader {
public:
  payload_reader();
  payload_reader(payload_reader&&) noexcept;
  payload_reader& operator=(payload_reader&&) noexcept;
  ~payload_reader();

  /// The value in bin::v1, valid until the next call. Errors: those of `data_view::make`,
  /// `from_json`; invalid_json, limit_exceeded (nested more deeply than 64).
  expected<std::span<const std::byte>> read(std::string_view payload, payload_format format);

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace pubsub::bridge
