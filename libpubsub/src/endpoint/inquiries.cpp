// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/core.hpp"

#include <algorithm>

#include "format/utf8.hpp"

namespace pubsub {

namespace {

/// Why there was no answer; the text of the reply says more.
error failure_of(const wire::reply& x) {
  const auto or_else = [&](const char* text) { return x.body.empty() ? text : x.body; };
  switch (x.outcome) {
  case wire::reply_outcome::not_told:
    return {errc::not_supported, x.body};
  case wire::reply_outcome::not_allowed:
    return {errc::denied, x.body};
  case wire::reply_outcome::out_of_reach:
    return {errc::no_path_to_peer, x.body};
  case wire::reply_outcome::too_late:
    return {errc::request_timeout, or_else("no answer came in time")};
  case wire::reply_outcome::busy:
    return {errc::limit_exceeded, or_else("too much was asked at once")};
  case wire::reply_outcome::lost:
    return {errc::peer_unavailable, or_else("a link on the way was lost")};
  case wire::reply_outcome::answer:
    break;
  }
  return {errc::invalid_data, "the answer makes no sense"};
}

} // namespace

void endpoint_core::begin_telling() {
  if (options_.serve_status == status_service::on)
    peering_->tell_by([this](wire::inquiry_subject what, std::size_t max_bytes) {
      return what == wire::inquiry_subject::status ? status_text(max_bytes)
                                                   : network_text(max_bytes);
    });
}

expected<std::string> endpoint_core::ask_about(const endpoint_id& node, wire::inquiry_subject what,
                                               std::chrono::nanoseconds timeout,
                                               std::size_t max_bytes) const {
  if (node == id_)
    return what == wire::inquiry_subject::status ? status_text(max_bytes) : network_text(max_bytes);
  if (node.is_nil())
    return error{errc::no_path_to_peer, "no node has the id that is all zeros"};
  wire::inquiry asked{.subject = what, .node = node};
  asked.max_bytes = static_cast<std::uint32_t>(std::min(max_bytes, wire::max_reply_bytes));
  auto answer = peering_->ask(std::move(asked), deadline_after(timeout));
  if (answer.outcome != wire::reply_outcome::answer || !is_utf8(answer.body))
    return failure_of(answer);
  return std::move(answer.body);
}

expected<std::vector<trace_hop>> endpoint_core::trace(std::string_view topic,
                                                      std::chrono::nanoseconds timeout) const {
  if (topic.size() > topic::max_size_bytes || !is_utf8(topic))
    return error{errc::invalid_argument, "no topic is longer than " +
                                             std::to_string(topic::max_size_bytes) +
                                             " bytes, or not UTF-8"};
  wire::inquiry asked{.subject = wire::inquiry_subject::trace};
  asked.topic = topic;
  const auto answer = peering_->ask(std::move(asked), deadline_after(timeout));
  if (answer.outcome != wire::reply_outcome::answer)
    return failure_of(answer);
  if (auto hops = wire::read_hops(answer.body))
    return std::move(*hops);
  return failure_of(answer);
}

} // namespace pubsub
