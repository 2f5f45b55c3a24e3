// SPDX-License-Identifier: BSD-3-Clause
#include "wire/broker/handshake.hpp"

#include <algorithm>

#include "base/byte_writer.hpp"
#include "base/node_name.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub::wire {

namespace {

constexpr std::uint32_t magic = 0x5A45454B; // "ZEEK"
constexpr std::uint8_t min_version = 1;
constexpr std::uint8_t first_unknown_code = 41;
constexpr std::uint8_t relay_mark = 0; // behind the fields, where version 1 reads nothing
constexpr std::uint8_t client_mark = 1;

enum tag : std::uint8_t {
  tag_hello = 6,
  tag_probe = 7,
  tag_version_select = 8,
  tag_drop_conn = 9,
  tag_originator_syn = 10,
  tag_responder_syn_ack = 11,
  tag_originator_ack = 12,
};

/// A handshake frame of these fields.
template <class... Fields>
std::vector<std::byte> make(std::uint8_t tag, const Fields&... fields) {
  byte_writer out;
  out.add(tag);
  (out.add(fields), ...);
  return make_frame(out.take());
}

error unreadable(std::string_view message) {
  return {errc::invalid_message, "failed to parse " + std::string{message}};
}

template <class T>
bool read_field(byte_reader& in, T& out) {
  return in.read(out);
}
bool read_field(byte_reader& in, std::string_view& out) {
  return in.read_string(out);
}

/// What is wrong with a message of the magic word and these fields, in Broker's words, which name
/// the message as Broker's code does; or none. Bytes behind the fields are left.
template <class... Fields>
error read(std::string_view message, byte_reader& in, Fields&... fields) {
  std::uint32_t word = 0;
  if (!in.read(word) || !(read_field(in, fields) && ...))
    return unreadable(message);
  return word == magic ? error{} : error{errc::wrong_magic_number, "wrong magic number"};
}
/// The same; bytes behind the fields mean nothing.
template <class... Fields>
error read(std::string_view message, std::span<const std::byte> body, Fields&... fields) {
  byte_reader in{body};
  return read(message, in, fields...);
}

/// Codes that Broker does not know are left to the description.
std::vector<std::byte> make_drop(const endpoint_id& sender, errc code,
                                 std::string_view description) {
  const auto number = static_cast<std::uint8_t>(code);
  const auto known = number < first_unknown_code ? code : errc::unspecified;
  return make(tag_drop_conn, magic, sender, static_cast<std::uint8_t>(known), description);
}

} // namespace

handshake::handshake(tcp_role role, environment env)
    : role_(role), env_(std::move(env)),
      expects_(role == tcp_role::connecting ? expects::hello_or_version_select : expects::hello) {}

void handshake::start() {
  if (role_ == tcp_role::connecting)
    send_hello();
  else
    env_.send(make(tag_probe, magic));
}

handshake::outcome handshake::receive(std::span<const std::byte> frame_payload) {
  if (outcome_ == outcome::redundant || outcome_ == outcome::failed)
    return outcome_; // decided; what still arrives changes nothing
  if (frame_payload.empty())
    return fail(errc::invalid_message, "empty handshake frame");
  const auto tag = static_cast<std::uint8_t>(frame_payload[0]);
  const auto body = frame_payload.subspan(1);
  if (outcome_ != outcome::running && !may_still_come(tag))
    return out_of_order(tag);
  switch (tag) {
  case tag_hello:
    return on_hello(body);
  case tag_probe:
    return on_probe(body);
  case tag_version_select:
    return on_version_select(body);
  case tag_drop_conn:
    return on_drop(body);
  case tag_originator_syn:
    return on_filter(body, tag, expects::originator_syn);
  case tag_responder_syn_ack:
    return on_filter(body, tag, expects::responder_syn_ack);
  case tag_originator_ack:
    if (expects_ != expects::originator_ack)
      return out_of_order(tag);
    expects_ = expects::nothing;
    return outcome_ = outcome::peered;
  default:
    return fail_and_tell({errc::invalid_message, "invalid message type tag"});
  }
}

/// While this side does not wait for it.
bool handshake::may_still_come(std::uint8_t tag) const noexcept {
  if (outcome_ == outcome::paused)
    return tag == tag_probe || tag == tag_drop_conn;
  return !over() && (tag == tag_originator_ack || tag == tag_drop_conn);
}

/// Only there to provoke early socket errors.
handshake::outcome handshake::on_probe(std::span<const std::byte> body) {
  const auto wrong = read("probe_msg", body);
  return wrong ? fail_and_tell(wrong) : outcome_;
}

/// A message is read and checked before it is asked whether its time has come, as by Broker: what
/// is malformed gets an answer in every state, what is merely out of order gets none.
handshake::outcome handshake::on_hello(std::span<const std::byte> body) {
  endpoint_id sender;
  std::uint8_t lowest = 0;
  std::uint8_t highest = 0;
  byte_reader in{body};
  if (const auto wrong = read("hello_msg", in, sender, lowest, highest))
    return fail_and_tell(wrong);
  const auto common = std::min(env_.max_version, highest);
  if (common < lowest || common < min_version)
    return fail_and_tell({errc::peer_incompatible, "unsupported versions offered"});
  if (expects_ != expects::hello && expects_ != expects::hello_or_version_select)
    return out_of_order(tag_hello);
  remote_ = sender;
  version_ = common;
  read_description(in);
  if (remote_.is_nil()) // the nil id means "none" everywhere else
    return fail(errc::invalid_handshake_state, "the peer has no id");
  if (remote_ == env_.self)
    return fail(errc::invalid_handshake_state, "the peer is this endpoint itself");
  originator_ = env_.self < remote_;
  if (originator_)
    return ask_admission();
  if (role_ == tcp_role::connecting) // an accepting peer with the smaller id must not say hello
    return out_of_order(tag_hello);
  send_hello();
  expects_ = expects::version_select;
  return outcome_;
}

handshake::outcome handshake::on_version_select(std::span<const std::byte> body) {
  endpoint_id sender;
  std::uint8_t selected = 0;
  byte_reader in{body};
  if (const auto wrong = read("version_select_msg", in, sender, selected))
    return fail_and_tell(wrong);
  if (selected < min_version || selected > env_.max_version)
    return fail_and_tell({errc::peer_incompatible, "unsupported version selected"});
  if (expects_ != expects::version_select && expects_ != expects::hello_or_version_select)
    return out_of_order(tag_version_select);
  version_ = selected;
  read_description(in);
  if (!remote_.is_nil() && sender != remote_)
    return fail(errc::invalid_handshake_state, "the peer changed its id");
  if (sender.is_nil())
    return fail(errc::invalid_handshake_state, "the peer has no id");
  if (!(sender < env_.self)) // only the smaller id originates
    return fail(errc::invalid_handshake_state,
                "the peer originates although its id is not smaller");
  remote_ = sender;
  return ask_admission();
}

handshake::outcome handshake::ask_admission() {
  switch (env_.admit(remote_, originator_)) {
  case admission::proceed:
    return admitted();
  case admission::pause:
    return outcome_ = outcome::paused;
  case admission::redundant:
    return reject(errc::redundant_connection, "redundant connection");
  case admission::illegal:
    return reject(errc::logic_error, "detected redundant connection at the responder");
  case admission::closing:
    return reject(errc::shutting_down, "shutting down");
  case admission::denied:
    return reject(errc::denied, "the id belongs to another certificate");
  case admission::unknown:
    return reject(errc::denied, "no access rule is for this peer");
  case admission::limited:
    return reject(errc::limit_exceeded, "as many peers as there may be have the same access rule");
  case admission::full:
    return reject(errc::limit_exceeded, "this side has as many peers as it may have");
  }
  return outcome_;
}

handshake::outcome handshake::admitted() {
  outcome_ = outcome::running;
  if (originator_) {
    send_version();
    send_filter(tag_originator_syn);
    expects_ = expects::responder_syn_ack;
  } else {
    expects_ = expects::originator_syn;
  }
  return outcome_;
}

handshake::outcome handshake::proceed_now() {
  return outcome_ == outcome::paused ? admitted() : outcome_;
}

handshake::outcome handshake::reject(errc code, std::string_view description) {
  if (code != errc::redundant_connection)
    return fail_and_tell({code, std::string{description}});
  env_.send(make_drop(env_.self, code, description));
  return outcome_ = outcome::redundant;
}

handshake::outcome handshake::on_drop(std::span<const std::byte> body) {
  endpoint_id sender;
  std::uint8_t code = 0;
  std::string_view description;
  if (const auto wrong = read("drop_conn_msg", body, sender, code, description))
    return fail_and_tell(wrong);
  const bool known = code > 0 && code < first_unknown_code;
  const auto reason = known ? static_cast<errc>(code) : errc::unspecified;
  const bool its_own = remote_.is_nil() || sender == remote_; // a liar may name another
  if (reason == errc::redundant_connection && its_own && env_.is_known(sender)) {
    if (remote_.is_nil())
      remote_ = sender;
    return outcome_ = outcome::redundant;
  }
  if (reason == errc::peer_incompatible && sender.is_nil())
    return fail(errc::tls_failed, "the peer uses TLS, and this side does not");
  return fail(reason, "the peer refused: " + std::string{description});
}

handshake::outcome handshake::on_filter(std::span<const std::byte> body, std::uint8_t tag,
                                        expects state) {
  const bool is_syn = state == expects::originator_syn;
  byte_reader in{body};
  auto announced = read_filter(in);
  if (!announced && announced.error() == errc::limit_exceeded)
    return fail_and_tell(announced.error());
  if (!announced)
    return fail_and_tell(
        unreadable(is_syn ? "v1::originator_syn_msg" : "v1::responder_syn_ack_msg"));
  if (expects_ != state)
    return out_of_order(tag);
  remote_filter_ = std::move(*announced);
  if (is_syn) {
    send_filter(tag_responder_syn_ack);
    expects_ = expects::originator_ack;
    return outcome_ = version_ == 1 ? outcome::running : outcome::peered;
  }
  env_.send(make(tag_originator_ack));
  expects_ = expects::nothing;
  return outcome_ = outcome::peered;
}

handshake::outcome handshake::fail(errc code, std::string context) {
  failure_ = error{code, std::move(context)};
  return outcome_ = outcome::failed;
}

handshake::outcome handshake::fail_and_tell(const error& why) {
  env_.send(make_drop(env_.self, why.code(), why.context()));
  return fail(why.code(), why.context());
}

/// What nodes of version 2 say of themselves behind the fields: which role they have, and a name,
/// which counts as none where it could not be shown as it is.
void handshake::read_description(byte_reader& in) {
  std::uint8_t role = relay_mark;
  std::string_view name;
  remote_is_client_ = in.read(role) && role == client_mark;
  remote_name_ = in.read_string(name) && is_node_name(name) ? name : std::string_view{};
}

handshake::outcome handshake::out_of_order(std::uint8_t tag) {
  return fail(errc::unexpected_handshake_message,
              "handshake message " + std::to_string(tag) + " out of order");
}

std::uint8_t handshake::role_mark() const noexcept {
  return env_.client ? client_mark : relay_mark;
}

void handshake::send_hello() {
  if (env_.max_version == 1)
    return env_.send(make(tag_hello, magic, env_.self, min_version, env_.max_version));
  env_.send(make(tag_hello, magic, env_.self, min_version, env_.max_version, role_mark(),
                 std::string_view{env_.name}));
}

void handshake::send_version() {
  if (version_ == 1)
    return env_.send(make(tag_version_select, magic, env_.self, version_));
  env_.send(make(tag_version_select, magic, env_.self, version_, role_mark(),
                 std::string_view{env_.name}));
}

/// Nodes of version 2 announce more, and later.
void handshake::send_filter(std::uint8_t tag) {
  env_.send(make(tag, version_ == 1 ? env_.local_filter(remote_) : filter{}));
}

std::vector<std::byte> make_tls_refusal() {
  return make_drop({}, errc::peer_incompatible, "this side uses TLS");
}

} // namespace pubsub::wire
