// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/kafka/kafka_client.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include <sys/eventfd.h>
#include <sys/syslog.h>
#include <unistd.h>

namespace pubsub::bridge {

namespace {

constexpr std::size_t most_text = 512;

kafka_problems& problems_of(const rd_kafka_t* client) {
  return *static_cast<kafka_problems*>(rd_kafka_opaque(client));
}

void on_log(const rd_kafka_t* client, int level, const char*, const char* text) {
  if (level <= LOG_WARNING)
    problems_of(client).note(text);
}

/// A client knows the id of a cluster once a broker has let it in.
bool was_let_in(rd_kafka_t* client) {
  char* const id = rd_kafka_clusterid(client, 0);
  rd_kafka_mem_free(client, id);
  return id != nullptr;
}

/// Whether the other side was reached, and one of the two wants nothing of the other. A certificate
/// that is not good enough has the code of TLS or that of a broken connection, by which call of
/// OpenSSL meets it; only the words are the same.
bool is_refusal(int code, std::string_view reason) {
  return code == RD_KAFKA_RESP_ERR__AUTHENTICATION || reason.find("certificate") != reason.npos ||
         reason.find("unknown ca") != reason.npos;
}

/// Earlier versions repeat the client's nonce, which brokers before 4.0 let pass.
constexpr int first_version_with_scram = 0x02060100;

/// The reason, and what else it may be than what the broker says.
std::string explained(std::string_view reason) {
  std::string result{reason};
  if (reason.find("SCRAM") != reason.npos && rd_kafka_version() < first_version_with_scram)
    result += "; librdkafka " + std::string{rd_kafka_version_str()} +
              " cannot log in at Kafka 4 by SCRAM: use PLAIN over TLS, or librdkafka 2.6.1";
  return result;
}

void on_error(rd_kafka_t* client, int code, const char* reason, void*) {
  auto& problems = problems_of(client);
  problems.note(reason);
  if (was_let_in(client))
    return;
  if (is_refusal(code, reason))
    problems.note_refusal(explained(reason));
  else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
    problems.note_all_down();
}

expected<void> set(rd_kafka_conf_t* conf, std::string_view name, std::string_view value) {
  std::array<char, most_text> why{};
  if (rd_kafka_conf_set(conf, std::string{name}.c_str(), std::string{value}.c_str(), why.data(),
                        why.size()) != RD_KAFKA_CONF_OK)
    return error{errc::invalid_argument, "kafka: " + std::string{why.data()}};
  return {};
}

} // namespace

void kafka_problems::note(std::string what) {
  const std::lock_guard lock{mutex_};
  last_ = std::move(what);
}

std::string kafka_problems::last() const {
  const std::lock_guard lock{mutex_};
  return last_;
}

void kafka_problems::clear() {
  const std::lock_guard lock{mutex_};
  last_.clear();
}

void kafka_problems::note_refusal(std::string why) {
  const std::lock_guard lock{mutex_};
  refusal_ = std::move(why);
}

void kafka_problems::note_all_down() {
  const std::lock_guard lock{mutex_};
  all_down_ = true;
}

error kafka_problems::refusal() const {
  const std::lock_guard lock{mutex_};
  if (refusal_.empty() || !all_down_)
    return {};
  return {errc::denied, "kafka: " + refusal_};
}

expected<kafka_conf> make_conf(const kafka& options, kafka_problems& problems,
                               std::initializer_list<kafka_setting> usual,
                               std::initializer_list<kafka_setting> fixed) {
  kafka_conf conf{rd_kafka_conf_new()};
  if (options.brokers.empty())
    return error{errc::invalid_argument, "kafka: brokers is empty"};
  if (auto ok = set(conf.get(), "bootstrap.servers", options.brokers); !ok)
    return ok.error();
  if (auto ok = set(conf.get(), "client.id", "libpubsub"); !ok)
    return ok.error();
  for (const auto& [name, value] : usual)
    if (auto ok = set(conf.get(), name, value); !ok)
      return ok.error();
  for (const auto& [name, value] : options.settings) {
    const auto given = std::ranges::find(fixed, std::string_view{name}, &kafka_setting::first);
    if (given != fixed.end() && given->second != value)
      return error{errc::invalid_argument, "kafka: " + name + " is " + std::string{given->second} +
                                               " here, and cannot be " + value};
    if (auto ok = set(conf.get(), name, value); !ok)
      return ok.error();
  }
  for (const auto& [name, value] : fixed)
    if (auto ok = set(conf.get(), name, value); !ok)
      return ok.error();
  rd_kafka_conf_set_opaque(conf.get(), &problems);
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  return conf;
}

expected<kafka_handle> make_client(rd_kafka_type_t type, kafka_conf conf) {
  std::array<char, most_text> why{};
  kafka_handle client{rd_kafka_new(type, conf.get(), why.data(), why.size())};
  if (client == nullptr)
    return error{errc::invalid_argument, "kafka: " + std::string{why.data()}};
  static_cast<void>(conf.release()); // the client has it now
  return client;
}

kafka_event::kafka_event(rd_kafka_queue_t* of) : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  constexpr std::uint64_t one = 1;
  rd_kafka_queue_io_event_enable(of, fd_.get(), &one, sizeof one);
}

void kafka_event::clear() const noexcept {
  std::uint64_t raised = 0;
  [[maybe_unused]] const auto taken = ::read(fd_.get(), &raised, sizeof raised);
}

} // namespace pubsub::bridge
