// Masks values with a secret key: equal values stay equal, types and sizes stay.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>

struct evp_cipher_ctx_st;

namespace pubsub::tool {

/// What a mask depends on: with it, what was masked can be found out by trying.
struct mask_key {
  std::array<std::byte, 32> bytes{};

  friend bool operator==(const mask_key&, const mask_key&) = default;
};

/// The key is a hash of all that is in the file. Errors: cannot_open_file; invalid_argument, if
/// that is less than 16 bytes or more than 64 KiB.
expected<mask_key> read_mask_key(const std::string& path);

/// Overwrites values in bin::v1 with others of the same type and size, which depend on them and on
/// the key only. Not thread-safe.
class masker {
public:
  explicit masker(const mask_key& key);
  masker(masker&&) noexcept;
  masker& operator=(masker&&) noexcept;
  ~masker();

  /// Addresses and subnets: those that begin with the same n bits still do, and no others; version
  /// 4 stays version 4. Strings and labels become letters a to p, counts and integers any number,
  /// of ports the number changes and the protocol stays. Booleans, reals and times become zero. Of
  /// vectors every member is masked. False, and then a part may be masked, for what is no value,
  /// and for sets and tables, whose order would change.
  bool mask(std::span<std::byte> value) noexcept;

private:
  struct free_context {
    void operator()(evp_cipher_ctx_st* x) const noexcept;
  };
  using digest = std::array<std::byte, 32>;

  bool mask(std::span<std::byte> all, data_view value) noexcept;
  bool mask_address(std::span<std::byte, 16> bytes) noexcept;
  bool mask_subnet(std::span<std::byte, 17> bytes) noexcept;
  bool mask_text(std::span<std::byte> text, std::byte type) noexcept;
  bool mask_number(std::span<std::byte> number, std::byte type) noexcept;
  bool hash(std::byte purpose, std::byte part, std::span<const std::byte> value,
            digest& out) const noexcept;

  mask_key key_;
  std::array<std::byte, 16> padding_{};
  std::unique_ptr<evp_cipher_ctx_st, free_context> cipher_;
};

} // namespace pubsub::tool
