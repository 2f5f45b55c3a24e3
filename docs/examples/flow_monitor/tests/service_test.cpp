#include "packets.hpp"

#include <flow_monitor/service.hpp>

#include <doctest/doctest.h>

using namespace flow_monitor;
using namespace flow_monitor::test;

namespace {

std::string_view tcp_says(std::string_view orig, std::string_view resp = {}) {
  const auto o = text(orig);
  const auto r = text(resp);
  return tcp_service(o, r);
}

const bytes dns_query = {0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 'w', 'w', 'w', 0, 0, 1, 0, 1};

bytes with_length(const bytes& message) {
  bytes out;
  put_u16(out, static_cast<unsigned>(message.size()));
  return out + message;
}

} // namespace

TEST_CASE("text protocols are known by what they say first") {
  CHECK(tcp_says("GET / HTTP/1.1\r\n") == "http");
  CHECK(tcp_says("POST /x HTTP/1.0\r\n") == "http");
  CHECK(tcp_says("", "HTTP/1.1 400 Bad Request\r\n") == "http");
  CHECK(tcp_says("SSH-2.0-OpenSSH_9.2\r\n") == "ssh");
  CHECK(tcp_says("", "SSH-2.0-x") == "ssh");
  CHECK(tcp_says("", "220 mail.example ESMTP ready\r\n") == "smtp");
  CHECK(tcp_says("ehlo client\r\n", "220 hello\r\n") == "smtp");
  CHECK(tcp_says("HELO client\r\n") == "smtp");
  CHECK(tcp_says("USER anonymous\r\n", "220 welcome\r\n") == "ftp");
  CHECK(tcp_says("", "220 FTP server ready\r\n") == "ftp");
  CHECK(tcp_says("CAPA\r\n", "+OK ready\r\n") == "pop3");
  CHECK(tcp_says("", "* OK IMAP4rev1 ready\r\n") == "imap");
}

TEST_CASE("a TLS hello is ssl from either side, other records are not") {
  const bytes client_hello{0x16, 3, 1, 1, 0, 1, 0, 0};
  const bytes server_hello{0x16, 3, 3, 0, 80, 2, 0, 0};
  CHECK(tcp_service(client_hello, {}) == "ssl");
  CHECK(tcp_service({}, server_hello) == "ssl");
  CHECK(tcp_service(server_hello, {}) == "");
  CHECK(tcp_service(bytes{0x17, 3, 3, 0, 80, 1}, {}) == "");
}

TEST_CASE("DNS is known over UDP and TCP on any port") {
  CHECK(udp_service(dns_query) == "dns");
  CHECK(tcp_service(with_length(dns_query), {}) == "dns");
  auto response = dns_query;
  response[2] = 0x81;
  response[3] = 0x80;
  CHECK(udp_service(response) == "dns");
  CHECK(tcp_service({}, with_length(response)) == "dns");
}

TEST_CASE("a DNS message cut off by the capture is still DNS once its name begins") {
  for (std::size_t size = 0; size <= dns_query.size(); ++size) {
    CAPTURE(size);
    const bytes cut(dns_query.begin(), dns_query.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK((udp_service(cut) == "dns") == (size > 12));
  }
}

TEST_CASE("what is not a DNS message is not taken for one") {
  auto reserved_bit = dns_query;
  reserved_bit[3] = 0x40;
  CHECK(udp_service(reserved_bit) == "");
  auto no_records = dns_query;
  no_records[5] = 0;
  CHECK(udp_service(no_records) == "");
  auto long_label = dns_query;
  long_label[12] = 70;
  CHECK(udp_service(long_label) == "");
  // A messenger protocol whose first bytes read like the length and header of a DNS message.
  const bytes messenger{'Y', 'M', 'S', 'G', 0, 0x10, 0, 0, 0, 0x15, 0, 0x8a, 0, 0, 0, 0, 0, 0x40};
  CHECK(tcp_service(messenger, {}) == "");
}

TEST_CASE("NTP and DHCP are known by their fixed fields") {
  bytes ntp(48, 0);
  ntp[0] = 0x23;
  CHECK(udp_service(ntp) == "ntp");
  ntp.resize(47);
  CHECK(udp_service(ntp) == "");
  bytes dhcp(244, 0);
  dhcp[0] = dhcp[1] = 1;
  dhcp[2] = 6;
  dhcp[236] = 0x63;
  dhcp[237] = 0x82;
  dhcp[238] = 0x53;
  dhcp[239] = 0x63;
  CHECK(udp_service(dhcp) == "dhcp");
}

TEST_CASE("nothing and noise have no service") {
  CHECK(tcp_service({}, {}) == "");
  CHECK(udp_service({}) == "");
  CHECK(tcp_says("hello world", "220") == "");
  CHECK(tcp_says("GETAWAY") == "");
}

TEST_CASE("the first bytes are put together from segments, whatever their order and overlap") {
  first_bytes head;
  head.add(4, text("late")); // a hole before it: not kept
  CHECK(head.view().empty());
  head.add(0, text("EHL"));
  head.add(1, text("HLO c"));
  head.add(0, text("EH"));
  const auto expected = text("EHLO c");
  CHECK(std::equal(head.view().begin(), head.view().end(), expected.begin(), expected.end()));
  head.add(6, bytes(100, 'x'));
  CHECK(head.view().size() == first_bytes::capacity);
  head.add(first_bytes::capacity, text("more"));
  CHECK(head.view().size() == first_bytes::capacity);
}
