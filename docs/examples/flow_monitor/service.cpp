#include "service.hpp"

#include "byte_order.hpp"

#include <algorithm>
#include <cctype>

namespace flow_monitor {
namespace {

std::string_view as_text(byte_view bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.starts_with(word); });
}

bool begins_with_command(std::string_view text, std::initializer_list<std::string_view> commands) {
  return std::any_of(commands.begin(), commands.end(), [text](std::string_view command) {
    return text.size() > command.size() &&
           std::equal(
               command.begin(), command.end(), text.begin(),
               [](char x, char y) { return x == std::toupper(static_cast<unsigned char>(y)); }) &&
           (text[command.size()] == ' ' || text[command.size()] == '\r' ||
            text[command.size()] == '\n');
  });
}

bool is_http(std::string_view orig, std::string_view resp) {
  return begins_with_one_of(orig,
                            {"GET /", "POST /", "HEAD /", "PUT /", "DELETE /", "OPTIONS ",
                             "CONNECT ", "PATCH /", "TRACE /", "GET http://", "PRI * HTTP/2.0"}) ||
         begins_with_one_of(resp, {"HTTP/1.0 ", "HTTP/1.1 "});
}

// A TLS record (RFC 8446, 5.1) that carries a ClientHello or ServerHello.
bool is_tls(byte_view bytes, std::uint8_t hello) {
  return bytes.size() >= 6 && bytes[0] == 0x16 && bytes[1] == 3 && bytes[2] <= 4 &&
         bytes[5] == hello;
}

// A DNS message (RFC 1035, 4.1): a sensible header, and a first name that is made of labels.
bool is_dns(byte_view bytes) {
  if (bytes.size() < 12)
    return false;
  const unsigned flags = read_u16(bytes, 2);
  const unsigned opcode = flags >> 11 & 0xfU;
  const auto questions = read_u16(bytes, 4);
  const auto answers = read_u16(bytes, 6);
  const auto others = read_u16(bytes, 8) + read_u16(bytes, 10);
  if (opcode > 6 || opcode == 3 || (flags & 0x0040U) != 0 || questions > 16 || answers > 512 ||
      others > 512 || questions + answers + others == 0)
    return false;
  for (std::size_t at = 12; at < bytes.size();) {
    const std::size_t label = bytes[at];
    if (label == 0 || (label & 0xc0U) == 0xc0U)
      return true;
    if (label > 63)
      return false;
    const auto end = std::min(at + 1 + label, bytes.size());
    for (std::size_t i = at + 1; i < end; ++i)
      if (bytes[i] < 0x20)
        return false;
    at = end;
  }
  return bytes.size() > 12;
}

// Two bytes of length, then the message. Other protocols begin with lengths too, so the message has
// to be one that a client or server would send: a query has a question and no answer yet.
bool is_dns_over_tcp(byte_view bytes) {
  if (bytes.size() < 15 || read_u16(bytes, 0) < 13 || !is_dns(bytes.subspan(2)))
    return false;
  const bool is_response = (bytes[4] & 0x80U) != 0;
  return is_response || (read_u16(bytes, 6) > 0 && read_u16(bytes, 8) == 0);
}

// SMTP and FTP servers both greet with "220"; the client's first word, or else the greeting's own
// words, tell them apart.
std::string_view greeting_service(std::string_view orig, std::string_view resp) {
  if (begins_with_command(orig, {"EHLO", "HELO", "LHLO"}))
    return "smtp";
  const bool is_220 = begins_with_one_of(resp, {"220 ", "220-"});
  if (is_220 && begins_with_command(orig, {"USER", "AUTH", "FEAT"}))
    return "ftp";
  if (is_220 && resp.find("SMTP") != std::string_view::npos)
    return "smtp";
  if (is_220 && resp.find("FTP") != std::string_view::npos)
    return "ftp";
  if (begins_with_one_of(resp, {"+OK"}) &&
      (orig.empty() || begins_with_command(orig, {"USER", "CAPA", "APOP", "AUTH", "STLS", "QUIT"})))
    return "pop3";
  if (begins_with_one_of(resp, {"* OK "}))
    return "imap";
  return {};
}

bool is_dhcp(byte_view bytes) {
  if (bytes.size() < 240)
    return false;
  return (bytes[0] == 1 || bytes[0] == 2) && bytes[1] == 1 && bytes[2] == 6 &&
         read_u32(bytes, 236) == 0x63825363U;
}

// NTP (RFC 5905): version 1 to 4, a client, server or symmetric mode, 48 bytes, sane stratum.
bool is_ntp(byte_view bytes) {
  if (bytes.size() != 48 && bytes.size() != 68 && bytes.size() != 72)
    return false;
  const unsigned version = bytes[0] >> 3 & 7U;
  const unsigned mode = bytes[0] & 7U;
  return version >= 1 && version <= 4 && mode >= 1 && mode <= 5 && bytes[1] <= 16;
}

} // namespace

void first_bytes::add(std::uint64_t offset, byte_view bytes) {
  if (offset > size_ || offset + bytes.size() <= size_)
    return;
  const auto fresh = bytes.subspan(static_cast<std::size_t>(size_ - offset));
  const auto taken = std::min(fresh.size(), capacity - size_);
  std::copy_n(fresh.begin(), taken, bytes_.begin() + size_);
  size_ = static_cast<std::uint8_t>(size_ + taken);
}

std::string_view tcp_service(byte_view from_orig, byte_view from_resp) {
  const auto orig = as_text(from_orig);
  const auto resp = as_text(from_resp);
  if (is_http(orig, resp))
    return "http";
  if (is_tls(from_orig, 1) || is_tls(from_resp, 2))
    return "ssl";
  if (begins_with_one_of(orig, {"SSH-"}) || begins_with_one_of(resp, {"SSH-"}))
    return "ssh";
  if (const auto service = greeting_service(orig, resp); !service.empty())
    return service;
  if (is_dns_over_tcp(from_orig) || is_dns_over_tcp(from_resp))
    return "dns";
  return {};
}

std::string_view udp_service(byte_view payload) {
  if (is_dhcp(payload))
    return "dhcp";
  // Before NTP: a DNS message may well begin like one, the reverse fails on the reserved bit.
  if (is_dns(payload))
    return "dns";
  if (is_ntp(payload))
    return "ntp";
  return {};
}

} // namespace flow_monitor
