// zstd: chunks to smaller ones and back.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <pubsub/error.hpp>

#include "record/byte_buffer.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace pubsub::record {

inline constexpr std::string_view zstd_name = "zstd";

class compressor {
public:
  explicit compressor(int level);
  ~compressor();
  compressor(const compressor&) = delete;
  compressor& operator=(const compressor&) = delete;

  /// Appends the compressed form to `out`. Throws std::bad_alloc where there is no memory for it.
  void append(byte_buffer& out, std::span<const std::byte> content);

private:
  ZSTD_CCtx_s* context_;
  byte_buffer room_;
};

class decompressor {
public:
  decompressor();
  ~decompressor();
  decompressor(const decompressor&) = delete;
  decompressor& operator=(const decompressor&) = delete;

  /// Replaces what is in `out` by the content of `compressed`, which says to have `size` bytes.
  /// What it says is not believed: memory grows with what there really is. Errors: invalid_data.
  expected<void> restore(std::span<const std::byte> compressed, std::uint64_t size,
                         byte_buffer& out);

private:
  ZSTD_DCtx_s* context_;
};

} // namespace pubsub::record
