// Broker's configuration and options.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/program_options.hpp>
#include <pubsub/compat/broker/time.hpp>
#include <pubsub/endpoint_options.hpp>

namespace broker {
inline namespace over_pubsub {

struct skip_init_t {};
inline constexpr skip_init_t skip_init{};

enum class overflow_policy { disconnect, drop_newest, drop_oldest };

/// Fields that say "no effect" are for programs that set them.
struct broker_options {
  /// Connect without TLS.
  bool disable_ssl = false;
  /// Pass nothing on from peer to peer (Broker 2).
  bool disable_forwarding = false;
  /// The same, the other way round (Broker 1).
  bool forward = true;
  bool skip_ssl_init = false;      ///< no effect
  bool use_real_time = true;       ///< no effect: the time is that of the clock
  bool ignore_broker_conf = false; ///< no effect: there is no configuration file
  std::uint16_t ttl = 16;          ///< no effect: loops are stopped otherwise
  /// No effect: `publish` waits while a peer is behind.
  std::size_t peer_buffer_size = 2048;
  overflow_policy peer_overflow_policy = overflow_policy::disconnect; ///< no effect
};

/// A text that is assigned to (Broker 1) or called (Broker 2).
class text_option {
public:
  text_option& operator=(std::string text) {
    text_ = std::move(text);
    return *this;
  }
  void operator()(std::string text) { text_ = std::move(text); }
  const std::string& operator()() const noexcept { return text_; }
  operator const std::string&() const noexcept { return text_; }

private:
  std::string text_;
};

/// What an endpoint is made from.
class configuration {
public:
  configuration() = default;
  explicit configuration(skip_init_t) {}
  explicit configuration(broker_options opts) : options_(opts) {}
  configuration(int argc, char** argv) { init(argc, argv); }

  /// Reads a command line into the options that were added. Throws std::invalid_argument.
  void init(int argc, char** argv) {
    program_.read(argc, argv);
    for (const auto* key : {"broker.disable-ssl", "openssl.certificate", "openssl.key",
                            "openssl.passphrase", "openssl.capath", "openssl.cafile"})
      if (const auto* value = program_.find(key))
        apply(key, *value);
  }

  const broker_options& options() const { return options_; }
  std::string help_text() const { return program_.help_text(); }
  const std::vector<std::string>& remainder() const { return program_.remainder(); }
  bool cli_helptext_printed() const { return program_.help_printed(); }

  /// Files in PEM format, a folder, a passphrase; empty for none. With any of them both ends of a
  /// connection must present a certificate that the other trusts.
  text_option openssl_certificate;
  text_option openssl_key;
  text_option openssl_passphrase;
  text_option openssl_capath;
  text_option openssl_cafile;

  /// `name`: `long` or `long,s`.
  void add_option(detail::program_options::target to, std::string_view name,
                  std::string_view description) {
    program_.add(to, name, description);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void set(std::string_view key, T value) {
    if constexpr (std::same_as<T, bool>)
      set(key, std::string{value ? "true" : "false"});
    else
      set(key, std::to_string(value));
  }
  void set(std::string_view key, timespan value) { set(key, value.count()); }
  void set(std::string_view key, std::string value) {
    apply(key, value);
    program_.set(key, std::move(value));
  }
  void set(std::string_view key, const char* value) { set(key, std::string{value}); }
  void set(std::string_view key, const std::vector<std::string>& value) {
    std::string joined;
    for (const auto& each : value)
      joined += (joined.empty() ? "" : ",") + each;
    set(key, std::move(joined));
  }

  std::optional<std::int64_t> read_i64(std::string_view key, std::int64_t least,
                                       std::int64_t most) const {
    return read_number(key, least, most);
  }
  std::optional<std::uint64_t> read_u64(std::string_view key, std::uint64_t most) const {
    return read_number(key, std::uint64_t{0}, most);
  }
  std::optional<timespan> read_ts(std::string_view key) const {
    std::int64_t nanoseconds = 0;
    const auto* text = program_.find(key);
    if (text == nullptr || !detail::program_options::read_number(*text, nanoseconds))
      return std::nullopt;
    return timespan{nanoseconds};
  }
  std::optional<std::string> read_str(std::string_view key) const {
    const auto* text = program_.find(key);
    return text != nullptr ? std::optional{*text} : std::nullopt;
  }
  std::optional<std::vector<std::string>> read_str_vec(std::string_view key) const {
    const auto* text = program_.find(key);
    return text != nullptr ? std::optional{detail::program_options::split_list(*text)}
                           : std::nullopt;
  }

  static void init_global_state() {}

private:
  template <class Number>
  std::optional<Number> read_number(std::string_view key, Number least, Number most) const {
    Number number = 0;
    const auto* text = program_.find(key);
    if (text == nullptr || !detail::program_options::read_number(*text, number) || number < least ||
        number > most)
      return std::nullopt;
    return number;
  }
  void apply(std::string_view key, const std::string& value) {
    if (key == "broker.disable-ssl")
      options_.disable_ssl = value == "true";
    else if (key == "openssl.certificate")
      openssl_certificate = value;
    else if (key == "openssl.key")
      openssl_key = value;
    else if (key == "openssl.passphrase")
      openssl_passphrase = value;
    else if (key == "openssl.capath")
      openssl_capath = value;
    else if (key == "openssl.cafile")
      openssl_cafile = value;
  }

  broker_options options_;
  detail::program_options program_;
};

namespace detail {

inline pubsub::endpoint_options native_options(const configuration& config,
                                               const pubsub::endpoint_id& id) {
  pubsub::endpoint_options result;
  result.id = id;
  result.own_messages = pubsub::own_messages::ignore;
  const auto passes_on = config.options().forward && !config.options().disable_forwarding;
  result.forwarding = passes_on ? pubsub::forwarding::on : pubsub::forwarding::off;
  if (!config.options().disable_ssl)
    result.tls = {config.openssl_certificate(), config.openssl_key(), config.openssl_passphrase(),
                  config.openssl_cafile(), config.openssl_capath()};
  return result;
}

/// Broker's attempts are all the same time apart, and `peer` waits for the first success for ever;
/// here for a year.
inline pubsub::peer_options native_peering(std::chrono::seconds retry) {
  pubsub::peer_options result;
  result.retry.reset();
  if (retry.count() > 0) {
    result.retry = retry;
    result.max_retry = retry;
  }
  result.timeout = std::chrono::hours{24 * 365};
  return result;
}

inline std::string native_uri(bool plain, const std::string& host, std::uint16_t port) {
  const auto is_v6 = host.find(':') != std::string::npos;
  return (plain ? "tcp://" : "tls://") + (is_v6 ? '[' + host + ']' : host) + ':' +
         std::to_string(port);
}

} // namespace detail

} // namespace over_pubsub
} // namespace broker
