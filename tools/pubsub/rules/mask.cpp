// SPDX-License-Identifier: BSD-3-Clause
#include "rules/mask.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace pubsub::tool {

namespace {

constexpr std::size_t least_key_bytes = 16;
constexpr std::size_t most_key_bytes = 64 * 1024;

// What hashes are for; types of values are below.
constexpr std::byte for_cipher{0xf0};
constexpr std::byte for_padding{0xf1};
constexpr std::byte for_letters{0xf2};

constexpr std::size_t block_bytes = 16;
constexpr std::size_t address_bits = 128;
constexpr std::size_t before_version_4 = 96; // bits of an address that say that it is of version 4

unsigned char* raw(std::byte* x) noexcept {
  return reinterpret_cast<unsigned char*>(x);
}
const unsigned char* raw(const std::byte* x) noexcept {
  return reinterpret_cast<const unsigned char*>(x);
}

bool is_version_4(std::span<const std::byte, 16> bytes) noexcept {
  constexpr std::array<std::uint8_t, 12> before{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(bytes.data(), before.data(), before.size()) == 0;
}

constexpr std::byte bit(std::size_t place) noexcept {
  return std::byte{0x80} >> (place % 8);
}

/// The first `bits` bits of `from`, and behind them those of `rest`.
void write_block(std::byte* to, const std::byte* from, std::size_t bits,
                 const std::byte* rest) noexcept {
  std::memcpy(to, from, bits / 8);
  std::memcpy(to + bits / 8, rest + bits / 8, block_bytes - bits / 8);
  if (bits % 8 == 0)
    return;
  const auto kept = static_cast<std::byte>(0xffU << (8 - bits % 8));
  to[bits / 8] = (from[bits / 8] & kept) | (rest[bits / 8] & ~kept);
}

/// Where a part of the value lies in the bytes that may be changed.
std::span<std::byte> part_of(std::span<std::byte> all, const void* at, std::size_t size) noexcept {
  return all.subspan(static_cast<std::size_t>(static_cast<const std::byte*>(at) - all.data()),
                     size);
}

} // namespace

expected<mask_key> read_mask_key(const std::string& path) {
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  std::string text;
  text.resize(most_key_bytes + 1);
  if (file)
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad())
    return error{errc::cannot_open_file,
                 path + ": " + (errno != 0 ? std::strerror(errno) : "cannot be read")};
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() < least_key_bytes || text.size() > most_key_bytes)
    return error{errc::invalid_argument,
                 path + ": a key for masks has 16 bytes at least, and 64 KiB at most"};
  mask_key result;
  unsigned size = 0;
  const bool done = EVP_Digest(text.data(), text.size(), raw(result.bytes.data()), &size,
                               EVP_sha256(), nullptr) == 1;
  OPENSSL_cleanse(text.data(), text.size());
  if (!done)
    return error{errc::not_supported, "OpenSSL does not compute SHA-256"};
  return result;
}

void masker::free_context::operator()(evp_cipher_ctx_st* x) const noexcept {
  EVP_CIPHER_CTX_free(x);
}

/// Without a cipher, as in a process out of memory, no address can be masked.
masker::masker(const mask_key& key) : key_(key), cipher_(EVP_CIPHER_CTX_new()) {
  digest of_cipher;
  digest of_padding;
  if (!cipher_ || !hash(for_cipher, {}, padding_, of_cipher) ||
      !hash(for_padding, {}, padding_, of_padding) ||
      EVP_EncryptInit_ex(cipher_.get(), EVP_aes_256_ecb(), nullptr, raw(of_cipher.data()),
                         nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(cipher_.get(), 0) != 1)
    cipher_.reset();
  std::copy_n(of_padding.begin(), padding_.size(), padding_.begin());
}

masker::masker(masker&&) noexcept = default;
masker& masker::operator=(masker&&) noexcept = default;
masker::~masker() = default;

bool masker::mask(std::span<std::byte> value) noexcept {
  const auto view = data_view::make(value);
  return view && mask(value, *view);
}

bool masker::mask(std::span<std::byte> all, data_view value) noexcept {
  const auto type = static_cast<std::byte>(value.type());
  const auto body = [&] {
    const auto bytes = value.bytes();
    return part_of(all, bytes.data() + 1, bytes.size() - 1);
  };
  switch (value.type()) {
  case data_type::none:
    return true;
  case data_type::boolean:
  case data_type::real:
  case data_type::timestamp:
  case data_type::timespan:
    std::ranges::fill(body(), std::byte{0});
    return true;
  case data_type::count:
  case data_type::integer:
    return mask_number(body(), type);
  case data_type::port:
    return mask_number(body().first(2), type);
  case data_type::string:
    return mask_text(part_of(all, value.as_string().data(), value.as_string().size()), type);
  case data_type::enum_value:
    return mask_text(part_of(all, value.as_enum().data(), value.as_enum().size()), type);
  case data_type::address:
    return mask_address(body().first<16>());
  case data_type::subnet:
    return mask_subnet(body().first<17>());
  case data_type::vector:
    return std::ranges::all_of(value.elements(), [&](data_view each) { return mask(all, each); });
  case data_type::set:
  case data_type::table:
    return value.size() == 0;
  }
  return false;
}

/// Bit n changes as the bits before it say: a block for each begins with those, is enciphered, and
/// gives one bit. This is the scheme that Crypto-PAn is known for, with another cipher and key.
bool masker::mask_address(std::span<std::byte, 16> bytes) noexcept {
  if (!cipher_)
    return false;
  std::array<std::byte, address_bits * block_bytes> blocks;
  const auto first = is_version_4(bytes) ? before_version_4 : 0;
  const auto size = static_cast<int>((address_bits - first) * block_bytes);
  for (auto place = first; place < address_bits; ++place)
    write_block(&blocks[(place - first) * block_bytes], bytes.data(), place, padding_.data());
  int done = 0;
  if (EVP_EncryptUpdate(cipher_.get(), raw(blocks.data()), &done, raw(blocks.data()), size) != 1 ||
      done != size)
    return false;
  for (auto place = first; place < address_bits; ++place)
    if ((blocks[(place - first) * block_bytes] & std::byte{0x80}) != std::byte{0})
      bytes[place / 8] ^= bit(place);
  return true;
}

/// Its address, as far as its length goes.
bool masker::mask_subnet(std::span<std::byte, 17> bytes) noexcept {
  const auto length = std::min<std::size_t>(static_cast<std::size_t>(bytes[16]), address_bits);
  if (!mask_address(bytes.first<16>()))
    return false;
  for (auto place = length; place < address_bits; ++place)
    bytes[place / 8] &= ~bit(place);
  return true;
}

/// By its hash, of which each 64 letters are made with a number of their own.
bool masker::mask_text(std::span<std::byte> text, std::byte type) noexcept {
  digest whole;
  digest letters;
  constexpr auto letters_of_hash = 2 * letters.size();
  if (!text.empty() && !hash(type, {}, text, whole))
    return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto place = at % letters_of_hash;
    if (place == 0 &&
        !hash(for_letters, static_cast<std::byte>(at / letters_of_hash), whole, letters))
      return false;
    const auto two = static_cast<unsigned>(letters[place / 2]);
    text[at] = static_cast<std::byte>('a' + (place % 2 == 0 ? two >> 4U : two & 0xfU));
  }
  return true;
}

bool masker::mask_number(std::span<std::byte> number, std::byte type) noexcept {
  digest fresh;
  if (!hash(type, {}, number, fresh))
    return false;
  std::copy_n(fresh.begin(), number.size(), number.begin());
  return true;
}

bool masker::hash(std::byte purpose, std::byte part, std::span<const std::byte> value,
                  digest& out) const noexcept {
  // The purpose is part of the key, so that the value need not be copied behind it.
  std::array<std::byte, std::tuple_size_v<decltype(key_.bytes)> + 2> key;
  std::ranges::copy(key_.bytes, key.begin());
  key[key.size() - 2] = purpose;
  key[key.size() - 1] = part;
  unsigned size = 0;
  return HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(value.data()),
              value.size(), raw(out.data()), &size) != nullptr &&
         size == out.size();
}

} // namespace pubsub::tool
