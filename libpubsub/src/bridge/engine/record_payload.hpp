// The value of a record that is to be written.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pubsub::bridge {

/// Bytes of its own, or bytes that are lent: those of a message, which are written from where they
/// have arrived.
class record_payload {
public:
  record_payload() = default;
  record_payload(std::string own) : bytes_(std::move(own)) {}
  /// The bytes stay where they are until the record that has them is settled, or its writer is
  /// gone.
  static record_payload lent(std::string_view bytes) {
    record_payload result;
    result.bytes_ = bytes;
    return result;
  }

  bool is_lent() const noexcept { return std::holds_alternative<std::string_view>(bytes_); }
  std::string_view view() const noexcept {
    const auto* const own = std::get_if<std::string>(&bytes_);
    return own != nullptr ? std::string_view{*own} : *std::get_if<std::string_view>(&bytes_);
  }
  std::size_t size() const noexcept { return view().size(); }

private:
  std::variant<std::string, std::string_view> bytes_;
};

} // namespace pubsub::bridge
