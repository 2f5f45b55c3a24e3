// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/log_streams.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pubsub::cluster {

namespace {

constexpr auto unusual = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"capture_loss", "CaptureLoss::LOG"},
    {"dce_rpc", "DCE_RPC::LOG"},
    {"dhcp", "DHCP::LOG"},
    {"dnp3", "DNP3::LOG"},
    {"dns", "DNS::LOG"},
    {"ftp", "FTP::LOG"},
    {"http", "HTTP::LOG"},
    {"irc", "IRC::LOG"},
    {"kerberos", "KRB::LOG"},
    {"known_certs", "Known::CERTS_LOG"},
    {"known_hosts", "Known::HOSTS_LOG"},
    {"known_modbus", "Known::MODBUS_LOG"},
    {"known_services", "Known::SERVICES_LOG"},
    {"ldap", "LDAP::LDAP_LOG"},
    {"ldap_search", "LDAP::LDAP_SEARCH_LOG"},
    {"loaded_scripts", "LoadedScripts::LOG"},
    {"modbus_register_change", "Modbus::REGISTER_CHANGE_LOG"},
    {"mqtt_connect", "MQTT::CONNECT_LOG"},
    {"mqtt_publish", "MQTT::PUBLISH_LOG"},
    {"mqtt_subscribe", "MQTT::SUBSCRIBE_LOG"},
    {"mysql", "mysql::LOG"},
    {"netcontrol", "NetControl::LOG"},
    {"notice_alarm", "Notice::ALARM_LOG"},
    {"ntlm", "NTLM::LOG"},
    {"ntp", "NTP::LOG"},
    {"ocsp", "OCSP::LOG"},
    {"openflow", "OpenFlow::LOG"},
    {"packet_filter", "PacketFilter::LOG"},
    {"pe", "PE::LOG"},
    {"postgresql", "PostgreSQL::LOG"},
    {"quic", "QUIC::LOG"},
    {"radius", "RADIUS::LOG"},
    {"rdp", "RDP::LOG"},
    {"rfb", "RFB::LOG"},
    {"sip", "SIP::LOG"},
    {"smb_cmd", "SMB::CMD_LOG"},
    {"smb_files", "SMB::FILES_LOG"},
    {"smb_mapping", "SMB::MAPPING_LOG"},
    {"smtp", "SMTP::LOG"},
    {"snmp", "SNMP::LOG"},
    {"socks", "SOCKS::LOG"},
    {"ssh", "SSH::LOG"},
    {"ssl", "SSL::LOG"},
    {"x509", "X509::LOG"},
});

} // namespace

std::string usual_stream(std::string_view path) {
  const auto known = std::ranges::find(unusual, path, [](const auto& x) { return x.first; });
  if (known != unusual.end())
    return std::string{known->second};
  auto module = std::string{path};
  if (!module.empty() && module[0] >= 'a' && module[0] <= 'z')
    module[0] = static_cast<char>(module[0] - 'a' + 'A');
  return module + "::LOG";
}

} // namespace pubsub::cluster
