// Zeek's messages inside data: events, and telling them from logs and batches.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub::zeek {

/// Values are those of the envelope.
enum class message_kind : std::uint8_t {
  event = 1,
  log_create = 2,
  log_write = 3,
  identifier_update = 4,
  batch = 5,
};

/// What kind of Zeek message `x` is, or nothing where it is none. Checks the shape of the content:
/// names and types of the leading elements, every member of a batch, the metadata of an event.
/// Elements beyond those known are ignored, as in Zeek. Linear in the size of `x`; never allocates.
PUBSUB_EXPORT std::optional<message_kind> kind_of(const data_view& x) noexcept;

/// Where a message belongs in a distributed trace: what W3C Trace Context, version 00, calls
/// traceparent and tracestate. It is valid.
class PUBSUB_EXPORT trace_context {
public:
  /// `traceparent`: 55 characters, `00-`, 32 digits of the trace, `-`, 16 of the span, `-`, 2 of
  /// flags; digits are hexadecimal in lower case, and neither trace nor span is 0. `tracestate`: up
  /// to 512 printable ASCII characters, or empty. Errors: invalid_argument.
  static expected<trace_context> make(std::string_view traceparent,
                                      std::string_view tracestate = {});

  /// Trace, span and flags.
  const std::string& traceparent() const noexcept { return traceparent_; }
  /// Empty if there is none.
  const std::string& tracestate() const noexcept { return tracestate_; }

  friend bool operator==(const trace_context&, const trace_context&) = default;

private:
  friend class event_view;
  friend expected<struct event> parse_event(const data& x);
  trace_context(std::string_view traceparent, std::string_view tracestate)
      : traceparent_(traceparent), tracestate_(tracestate) {}

  std::string traceparent_;
  std::string tracestate_;
};

/// A Zeek event: a name and one argument for each parameter of its declaration.
struct event {
  /// Fully qualified, e.g. `Pkg::my_event`, without `GLOBAL::`.
  std::string name;
  vector args;
  /// When it happened on the network, where the sender says.
  std::optional<timestamp> network_time;
  /// Which trace it belongs to, where the sender says; nothing if what it says is not valid.
  std::optional<trace_context> trace = {};

  friend bool operator==(const event&, const event&) = default;
};

/// The value to publish for an event. Without `network_time` and `trace` it has no metadata at all.
PUBSUB_EXPORT data make_event(std::string name, vector args,
                              std::optional<timestamp> network_time = {},
                              const std::optional<trace_context>& trace = {});

/// Reads an event with or without metadata. Errors: invalid_message.
PUBSUB_EXPORT expected<event> parse_event(const data& x);

/// An event inside encoded bytes. Never allocates; refers to the bytes like any data_view.
class event_view {
public:
  std::string_view name() const noexcept { return name_; }
  /// The arguments, a vector.
  const data_view& args_view() const noexcept { return args_; }
  /// For iteration over the arguments.
  data_view::range args() const noexcept { return args_.elements(); }
  std::size_t args_size() const noexcept { return args_.size(); }
  std::optional<timestamp> network_time() const noexcept { return network_time_; }
  /// As in `trace_context`; empty if there is none, or none that is valid.
  std::string_view traceparent() const noexcept { return traceparent_; }
  /// As in `trace_context`; empty without a traceparent.
  std::string_view tracestate() const noexcept { return tracestate_; }
  /// A copy of both.
  std::optional<trace_context> trace() const {
    if (traceparent_.empty())
      return std::nullopt;
    return trace_context{traceparent_, tracestate_};
  }

private:
  friend expected<event_view> view_event(const data_view& x);

  std::string_view name_;
  data_view args_;
  std::optional<timestamp> network_time_;
  std::string_view traceparent_;
  std::string_view tracestate_;
};

/// As parse_event, in place. Allocates only to report an error. Errors: invalid_message.
PUBSUB_EXPORT expected<event_view> view_event(const data_view& x);

} // namespace pubsub::zeek
