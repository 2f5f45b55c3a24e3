// Zeek's messages, as Broker's classes read and make them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/compat/broker/endpoint.hpp>
#include <pubsub/compat/broker/message.hpp>

namespace broker {
inline namespace over_pubsub {

namespace zeek {

inline constexpr count ProtocolVersion = 1;

enum class MetadataType : std::uint8_t { NetworkTimestamp = 1, UserMetadataStart = 200 };

/// A vector of the protocol's version, a type, and what the type says. Reading what is not there
/// gives empty values.
class Message {
public:
  enum Type {
    Invalid = 0,
    Event = 1,
    LogCreate = 2,
    LogWrite = 3,
    IdentifierUpdate = 4,
    Batch = 5,
    MAX = Batch,
  };

  virtual ~Message() = default;
  Message(const Message&) = default;
  Message(Message&&) = default;
  Message& operator=(const Message&) = default;
  Message& operator=(Message&&) = default;

  Type type() const { return type(data_); }
  static Type type(const data& msg) {
    const auto& outer = msg.to_list();
    const auto* tag = outer.size() >= 3 ? get_if<count>(outer[1]) : nullptr;
    return tag != nullptr && *tag <= static_cast<count>(MAX) ? static_cast<Type>(*tag) : Invalid;
  }
  static Type type(const data_message& msg) { return type(get_data(msg)); }

  const data& as_data() const noexcept { return data_; }
  data& as_data() noexcept { return data_; }
  const data& raw() const noexcept { return data_; }
  data&& move_data() noexcept { return std::move(data_); }
  const vector& as_vector() const noexcept { return data_.to_list(); }
  operator data() const { return data_; }
  std::string to_string() const { return over_pubsub::to_string(data_); }

protected:
  Message() = default;
  explicit Message(data msg) : data_(std::move(msg)) {}
  Message(Type type, vector content)
      : data_(vector{ProtocolVersion, static_cast<count>(type), std::move(content)}) {}

  bool is_message_of(Type wanted) const {
    const auto& outer = as_vector();
    return type() == wanted && outer[0].to_count() == ProtocolVersion && outer[2].is_list();
  }
  const vector& content() const noexcept {
    static const vector empty;
    return as_vector().size() >= 3 ? as_vector()[2].to_list() : empty;
  }
  const data& field(std::size_t index) const noexcept {
    static const data empty;
    return index < content().size() ? content()[index] : empty;
  }
  const std::string& text_field(std::size_t index) const noexcept {
    static const std::string empty;
    const auto* text = get_if<std::string>(field(index));
    return text != nullptr ? *text : empty;
  }

  /// The same to write to; `otherwise`, made empty, where there is no such field.
  template <class T>
  T& writable_field(std::size_t index, T& otherwise) {
    auto* outer = get_if<vector>(data_);
    auto* inner = outer != nullptr && outer->size() >= 3 ? get_if<vector>((*outer)[2]) : nullptr;
    if (inner != nullptr && index < inner->size())
      if (auto* held = get_if<T>((*inner)[index]))
        return *held;
    otherwise.clear();
    return otherwise;
  }

private:
  data data_;
};

inline bool convert(const Message& from, std::string& to) {
  to = from.to_string();
  return true;
}

/// What `visit_as_message` gives for a message that is none of Zeek's.
class Invalid : public Message {
public:
  Invalid() = default;
  explicit Invalid(data msg) : Message(std::move(msg)) {}
  explicit Invalid(const data_message& msg) : Message(get_data(msg)) {}
};

/// A name and arguments.
class Event : public Message {
public:
  Event(std::string name, vector args)
      : Message(Type::Event, vector{std::move(name), std::move(args)}) {}
  Event(std::string name, vector args, timestamp network_time)
      : Event(std::move(name), std::move(args),
              vector{vector{static_cast<count>(MetadataType::NetworkTimestamp), network_time}}) {}
  /// `metadata`: pairs of a count and a value.
  Event(std::string name, vector args, vector metadata)
      : Message(Type::Event, vector{std::move(name), std::move(args), std::move(metadata)}) {}
  Event(data msg) : Message(std::move(msg)) {}
  explicit Event(const data_message& msg) : Message(get_data(msg)) {}

  const std::string& name() const noexcept { return text_field(0); }
  const vector& args() const noexcept { return field(1).to_list(); }
  /// To write to: what is written to an event without a name, or arguments, is no part of it.
  std::string& name() { return writable_field(0, no_name_); }
  vector& args() { return writable_field(1, no_args_); }
  /// The time of the network when the event was made, if the event tells.
  std::optional<timestamp> ts() const {
    for (const auto& each : field(2).to_list()) {
      const auto& pair = each.to_list();
      if (pair.size() == 2 && pair[1].is_timestamp() &&
          pair[0].to_count() == static_cast<count>(MetadataType::NetworkTimestamp))
        return pair[1].to_timestamp();
    }
    return std::nullopt;
  }
  bool valid() const {
    return is_message_of(Type::Event) && content().size() >= 2 && field(0).is_string() &&
           field(1).is_list() && (content().size() < 3 || has_valid_metadata());
  }

private:
  bool has_valid_metadata() const {
    if (!field(2).is_list())
      return false;
    for (const auto& each : field(2).to_list()) {
      const auto& pair = each.to_list();
      if (pair.size() != 2 || !pair[0].is_count())
        return false;
      if (pair[0].to_count() == static_cast<count>(MetadataType::NetworkTimestamp) &&
          !pair[1].is_timestamp())
        return false;
    }
    return true;
  }

  std::string no_name_;
  vector no_args_;
};

/// Begins a log stream. What the arguments mean only Zeek knows.
class LogCreate : public Message {
public:
  LogCreate(enum_value stream_id, enum_value writer_id, data writer_info, data fields_data)
      : Message(Type::LogCreate, vector{std::move(stream_id), std::move(writer_id),
                                        std::move(writer_info), std::move(fields_data)}) {}
  LogCreate(data msg) : Message(std::move(msg)) {}
  explicit LogCreate(const data_message& msg) : Message(get_data(msg)) {}

  const enum_value& stream_id() const { return field(0).to_enum_value(); }
  const enum_value& writer_id() const { return field(1).to_enum_value(); }
  const data& writer_info() const { return field(2); }
  const data& fields_data() const { return field(3); }
  bool valid() const {
    return is_message_of(Type::LogCreate) && content().size() >= 4 && field(0).is_enum_value() &&
           field(1).is_enum_value();
  }
};

/// One record of a log stream. What the arguments mean only Zeek knows.
class LogWrite : public Message {
public:
  LogWrite(enum_value stream_id, enum_value writer_id, data path, data serial_data)
      : Message(Type::LogWrite, vector{std::move(stream_id), std::move(writer_id), std::move(path),
                                       std::move(serial_data)}) {}
  LogWrite(data msg) : Message(std::move(msg)) {}
  explicit LogWrite(const data_message& msg) : Message(get_data(msg)) {}

  const enum_value& stream_id() const { return field(0).to_enum_value(); }
  const enum_value& writer_id() const { return field(1).to_enum_value(); }
  const data& path() const { return field(2); }
  const data& serial_data() const { return field(3); }
  std::string_view path_str() const { return text_field(2); }
  std::string_view serial_data_str() const { return text_field(3); }
  bool valid() const {
    return is_message_of(Type::LogWrite) && content().size() >= 4 && field(0).is_enum_value() &&
           field(1).is_enum_value();
  }
};

/// The new value of a global identifier.
class IdentifierUpdate : public Message {
public:
  IdentifierUpdate(std::string id_name, data id_value)
      : Message(Type::IdentifierUpdate, vector{std::move(id_name), std::move(id_value)}) {}
  IdentifierUpdate(data msg) : Message(std::move(msg)) {}
  explicit IdentifierUpdate(const data_message& msg) : Message(get_data(msg)) {}

  const std::string& id_name() const noexcept { return text_field(0); }
  const data& id_value() const noexcept { return field(1); }
  bool valid() const {
    return is_message_of(Type::IdentifierUpdate) && content().size() >= 2 && field(0).is_string();
  }
};

/// Several messages in one.
class Batch : public Message {
public:
  Batch(vector msgs) : Message(Type::Batch, std::move(msgs)) {}
  Batch(data msg) : Message(std::move(msg)) {}
  explicit Batch(const data_message& msg) : Message(get_data(msg)) {}

  const vector& batch() const noexcept { return content(); }
  std::size_t size() const noexcept { return content().size(); }
  bool empty() const noexcept { return content().empty(); }
  bool valid() const { return is_message_of(Type::Batch); }
  /// Calls `f` with each, as visit_as_message does.
  template <class F>
  void for_each(F&& f) const;
};

class BatchBuilder {
public:
  void add(const Message& msg) { messages_.push_back(msg.as_data()); }
  bool empty() const noexcept { return messages_.empty(); }
  Batch build() { return Batch{std::exchange(messages_, {})}; }

private:
  vector messages_;
};

/// Calls `f` with an Event, LogCreate, LogWrite, IdentifierUpdate, Batch or Invalid.
template <class F>
auto visit_as_message(F&& f, const data& msg) {
  const auto visit_valid = [&f](auto&& typed) {
    if (typed.valid())
      return f(typed);
    auto invalid = Invalid{typed.move_data()};
    return f(invalid);
  };
  switch (Message::type(msg)) {
  case Message::Event:
    return visit_valid(Event{msg});
  case Message::LogCreate:
    return visit_valid(LogCreate{msg});
  case Message::LogWrite:
    return visit_valid(LogWrite{msg});
  case Message::IdentifierUpdate:
    return visit_valid(IdentifierUpdate{msg});
  case Message::Batch:
    return visit_valid(Batch{msg});
  case Message::Invalid:
    break;
  }
  auto invalid = Invalid{msg};
  return f(invalid);
}
template <class F>
auto visit_as_message(F&& f, const data_message& msg) {
  return visit_as_message(std::forward<F>(f), get_data(msg));
}

template <class F>
void Batch::for_each(F&& f) const {
  for (const auto& each : content())
    visit_as_message(f, each);
}

} // namespace zeek

/// The names of Broker 1.0.
namespace bro {
using zeek::Batch;
using zeek::Event;
using zeek::IdentifierUpdate;
using zeek::LogCreate;
using zeek::LogWrite;
using zeek::Message;
} // namespace bro

inline void endpoint::publish(const topic& t, const zeek::Message& x) {
  publish(t, x.as_data());
}
inline void endpoint::publish(const endpoint_info& dst, const topic& t, const zeek::Message& x) {
  publish(dst, t, x.as_data());
}

} // namespace over_pubsub
} // namespace broker
