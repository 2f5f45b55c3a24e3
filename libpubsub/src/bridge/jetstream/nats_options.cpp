// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/nats_options.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/printable.hpp"

namespace pubsub::bridge {

namespace {

constexpr int connect_timeout_ms = 2000;
constexpr int ping_interval_ms = 5000;
constexpr int pings_without_answer = 2;

std::vector<std::string_view> parts_of(std::string_view url) {
  std::vector<std::string_view> result;
  while (true) {
    const auto comma = std::min(url.find(','), url.size());
    auto one = url.substr(0, comma);
    while (one.starts_with(' '))
      one.remove_prefix(1);
    while (one.ends_with(' '))
      one.remove_suffix(1);
    result.push_back(one);
    if (comma == url.size())
      return result;
    url.remove_prefix(comma + 1);
  }
}

/// `host:port` without user and password.
std::string_view place_of(std::string_view url) {
  url = url.substr(std::min(url.find("://") + 3, url.size()));
  const auto at = url.rfind('@');
  return at == std::string_view::npos ? url : url.substr(at + 1);
}

bool is_address(std::string_view url) {
  if (!url.starts_with("nats://") && !url.starts_with("tls://"))
    return false;
  const auto place = place_of(url);
  const auto colon = place.rfind(':');
  const bool has_port = colon != std::string_view::npos && !place.ends_with(']');
  const auto host = has_port ? place.substr(0, colon) : place;
  if (host.empty() || host.find_first_of(" /?#") != std::string_view::npos)
    return false;
  if (!has_port)
    return true;
  std::uint16_t port = 0;
  const auto* const end = place.data() + place.size();
  const auto [last, failure] = std::from_chars(place.data() + colon + 1, end, port);
  return failure == std::errc{} && last == end && port > 0;
}

error unusable(std::string what) {
  return {errc::invalid_argument, printable(what)};
}

expected<void> set_addresses(natsOptions* out, const jetstream& from) {
  std::vector<std::string> urls;
  bool secure = false;
  for (const auto each : parts_of(from.url)) {
    if (!is_address(each))
      return unusable("the URL of a NATS server is nats://host:port or tls://host:port, and not " +
                      std::string{place_of(each)});
    secure = secure || each.starts_with("tls://");
    urls.emplace_back(each);
  }
  std::vector<const char*> texts;
  for (const auto& each : urls)
    texts.push_back(each.c_str());
  if (::natsOptions_SetServers(out, texts.data(), static_cast<int>(texts.size())) != NATS_OK)
    return unusable("no URL of a NATS server: " + shown_addresses(from.url));
  if (secure && ::natsOptions_SetSecure(out, true) != NATS_OK)
    return error{errc::not_supported, "this build of cnats has no TLS"};
  return {};
}

expected<void> set_files(natsOptions* out, const jetstream& from) {
  for (const auto* each : {&from.credentials, &from.ca, &from.certificate, &from.key})
    if (!each->empty() && ::access(each->c_str(), R_OK) != 0)
      return unusable("cannot read " + *each);
  if (from.certificate.empty() != from.key.empty())
    return unusable("a certificate needs its key, and a key its certificate");
  if (!from.credentials.empty() &&
      ::natsOptions_SetUserCredentialsFromFiles(out, from.credentials.c_str(), nullptr) != NATS_OK)
    return unusable(from.credentials + " has no credentials for NATS");
  if (!from.ca.empty() && ::natsOptions_LoadCATrustedCertificates(out, from.ca.c_str()) != NATS_OK)
    return unusable(from.ca + " has no certificates");
  if (!from.certificate.empty() && ::natsOptions_LoadCertificatesChain(
                                       out, from.certificate.c_str(), from.key.c_str()) != NATS_OK)
    return unusable(from.certificate + " and " + from.key + " are no certificate and its key");
  return {};
}

} // namespace

expected<nats_ptr<natsOptions>> make_options(const jetstream& from) {
  natsOptions* made = nullptr;
  if (::natsOptions_Create(&made) != NATS_OK)
    return error{errc::limit_exceeded, "cnats has no memory"};
  nats_ptr<natsOptions> result{made};
  if (auto done = set_addresses(made, from); !done)
    return done.error();
  if (auto done = set_files(made, from); !done)
    return done.error();
  ::natsOptions_SetTimeout(made, connect_timeout_ms);
  ::natsOptions_SetAllowReconnect(made, false);
  ::natsOptions_SetPingInterval(made, ping_interval_ms);
  ::natsOptions_SetMaxPingsOut(made, pings_without_answer);
  ::natsOptions_SetSendAsap(made, true); // without a thread that sends: the owner does
  ::natsOptions_SetName(made, "libpubsub");
  return result;
}

std::string shown_addresses(const std::string& url) {
  std::string result;
  for (const auto each : parts_of(url)) {
    if (!result.empty())
      result += ',';
    result += each.starts_with("tls://") ? "tls://" : "nats://";
    result += place_of(each);
  }
  return printable(result);
}

} // namespace pubsub::bridge
