// Broker's messages: a topic and a value.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/compat/broker/topic.hpp>

namespace broker {
inline namespace over_pubsub {

/// What a message holds; never changes while more than one message has it.
class data_envelope {
public:
  data_envelope(over_pubsub::topic t, data d) : content_(std::move(t), std::move(d)) {}

  std::string_view topic() const noexcept { return std::get<0>(content_).string(); }
  const data& value() const noexcept { return std::get<1>(content_); }
  const std::tuple<over_pubsub::topic, data>& content() const noexcept { return content_; }
  std::tuple<over_pubsub::topic, data>& content() noexcept { return content_; }

private:
  std::tuple<over_pubsub::topic, data> content_;
};

/// A handle on a topic and a value that copies share; null if default constructed. Works as the
/// tuple of Broker 1 (`get<0>(msg)`) and as the pointer of Broker 2.8 (`msg->topic()`).
class data_message {
public:
  data_message() = default;
  data_message(std::nullptr_t) {}
  data_message(topic t, over_pubsub::data d)
      : envelope_(std::make_shared<data_envelope>(std::move(t), std::move(d))) {}

  explicit operator bool() const noexcept { return envelope_ != nullptr; }
  const data_envelope* operator->() const noexcept { return envelope_.get(); }
  const data_envelope& operator*() const noexcept { return *envelope_; }

  /// The topic and the value; empty ones of a null message.
  const std::tuple<topic, over_pubsub::data>& content() const noexcept {
    static const std::tuple<topic, over_pubsub::data> empty;
    return envelope_ != nullptr ? std::as_const(*envelope_).content() : empty;
  }
  const std::tuple<topic, over_pubsub::data>& data() const noexcept { return content(); }
  /// The same to write to, which copies it where another message has it, too.
  std::tuple<topic, over_pubsub::data>& unshared() {
    if (envelope_ == nullptr)
      envelope_ = std::make_shared<data_envelope>(topic{}, over_pubsub::data{});
    else if (envelope_.use_count() > 1)
      envelope_ = std::make_shared<data_envelope>(*envelope_);
    return envelope_->content();
  }

  friend bool operator==(const data_message& x, std::nullptr_t) noexcept { return !x; }
  friend bool operator==(const data_message& x, const data_message& y) noexcept {
    return x.envelope_ == y.envelope_ || x.content() == y.content();
  }

private:
  std::shared_ptr<data_envelope> envelope_;
};

using data_envelope_ptr = data_message;

inline data_message make_data_message(topic t, data d) {
  return {std::move(t), std::move(d)};
}
/// The first of Broker 1's tuple is the topic, the second the value.
template <std::size_t Index>
const auto& get(const data_message& msg) {
  return std::get<Index>(msg.content());
}
/// Valid as long as `msg` or a copy of it lives, as is the value.
inline const topic& get_topic(const data_message& msg) {
  return get<0>(msg);
}
inline std::string_view get_topic_str(const data_message& msg) {
  return get_topic(msg).string();
}
inline const data& get_data(const data_message& msg) {
  return get<1>(msg);
}
inline topic move_topic(data_message& msg) {
  return std::move(std::get<0>(msg.unshared()));
}
inline data move_data(data_message& msg) {
  return std::move(std::get<1>(msg.unshared()));
}
inline data move_data(const data_message& msg) {
  return get_data(msg);
}
inline data move_data(data_message&& msg) {
  return move_data(msg);
}
inline bool is_data_message(const data_message&) {
  return true;
}

template <std::same_as<data_message> T>
bool convert(const T& from, std::string& to) {
  to = '(' + get_topic(from).string() + ", " + to_string(get_data(from)) + ')';
  return true;
}

} // namespace over_pubsub
} // namespace broker
