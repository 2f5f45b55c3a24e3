// Zeek's messages inside data: events, and telling them from logs and batches.
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

/// A Zeek event: a name and one argument for each parameter of its declaration.
struct event {
  /// Fully qualified, e.g. `Pkg::my_event`, without `GLOBAL::`.
  std::string name;
  vector args;
  /// When it happened on the network, where the sender says.
  std::optional<timestamp> network_time;

  friend bool operator==(const event&, const event&) = default;
};

/// The value to publish for an event. Without `network_time` it has no metadata at all.
PUBSUB_EXPORT data make_event(std::string name, vector args,
                              std::optional<timestamp> network_time = {});

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

private:
  friend expected<event_view> view_event(const data_view& x);

  std::string_view name_;
  data_view args_;
  std::optional<timestamp> network_time_;
};

/// As parse_event, in place. Allocates only to report an error. Errors: invalid_message.
PUBSUB_EXPORT expected<event_view> view_event(const data_view& x);

} // namespace pubsub::zeek
