// SPDX-License-Identifier: BSD-3-Clause
#include "record/compressor.hpp"

#include <algorithm>
#include <new>
#include <string>

#include <zstd.h>
#include <zstd_errors.h>

namespace pubsub::record {

compressor::compressor(int level) : context_(ZSTD_createCCtx()) {
  if (context_ == nullptr)
    throw std::bad_alloc{};
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
}

compressor::~compressor() {
  ZSTD_freeCCtx(context_);
}

void compressor::append(byte_buffer& out, std::span<const std::byte> content) {
  const auto room = ZSTD_compressBound(content.size());
  room_.clear();
  auto* const at = room_.extend(room);
  const auto size = ZSTD_compress2(context_, at, room, content.data(), content.size());
  if (ZSTD_isError(size) != 0) // with room enough there is no other reason
    throw std::bad_alloc{};
  out.add_bytes({at, size});
}

decompressor::decompressor() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr)
    throw std::bad_alloc{};
}

decompressor::~decompressor() {
  ZSTD_freeDCtx(context_);
}

expected<void> decompressor::restore(std::span<const std::byte> compressed, std::uint64_t size,
                                     byte_buffer& out) {
  constexpr std::uint64_t least = 64 * 1024;
  constexpr std::uint64_t usual_ratio = 16;
  // At once where the ratio is usual; otherwise with twice the room each time that it is too small.
  for (auto room = std::min(size, least + usual_ratio * compressed.size());;
       room = std::min(size, 2 * room)) {
    out.clear();
    auto* const at = out.extend(static_cast<std::size_t>(room));
    const auto restored =
        ZSTD_decompressDCtx(context_, at, room, compressed.data(), compressed.size());
    if (ZSTD_isError(restored) == 0) {
      if (restored == size)
        return {};
      return error{errc::invalid_data, "a chunk says to have " + std::to_string(size) +
                                           " bytes and has " + std::to_string(restored)};
    }
    if (ZSTD_getErrorCode(restored) != ZSTD_error_dstSize_tooSmall || room == size)
      return error{errc::invalid_data,
                   "a chunk is no valid zstd: " + std::string{ZSTD_getErrorName(restored)}};
  }
}

} // namespace pubsub::record
