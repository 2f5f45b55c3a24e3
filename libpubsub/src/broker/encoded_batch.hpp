// Messages from Broker, encoded one behind the other.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/data_writer.hpp>

namespace pubsub::broker {

/// Topics and values in two buffers, so that a message costs no block of memory. Messages are taken
/// out in the order in which they were added. Thread-safety: one thread at a time.
class encoded_batch {
public:
  /// `write` appends a value to a data_writer. False, and nothing is added, if it returns false.
  template <class Write>
  bool add(std::string_view topic, Write write) {
    const auto before = values_.size_bytes();
    if (!write(values_)) {
      values_.truncate(before);
      return false;
    }
    const bool again = !places_.empty() && topic_of(places_.back()) == topic;
    const auto begin = again ? places_.back().topic_begin : topics_.size();
    if (!again)
      topics_.insert(topics_.end(), topic.begin(), topic.end());
    places_.push_back({begin, topic.size(), values_.size_bytes()});
    return true;
  }

  bool empty() const noexcept { return next_ == places_.size(); }
  std::size_t size() const noexcept { return places_.size() - next_; }
  /// Of the first message; only where there is one.
  std::string_view topic() const noexcept { return topic_of(places_[next_]); }
  std::span<const std::byte> value() const noexcept {
    return values_.bytes().subspan(begin_, places_[next_].value_end - begin_);
  }
  /// As a queue counts the first message.
  std::size_t size_bytes() const noexcept { return topic().size() + value().size(); }
  /// Takes the first one out.
  void pop() noexcept { begin_ = places_[next_++].value_end; }
  /// Keeps the first `n` messages only.
  void keep(std::size_t n) { places_.resize(next_ + n); }
  void clear() noexcept {
    topics_.clear();
    values_.clear();
    places_.clear();
    next_ = 0;
    begin_ = 0;
  }

  /// Calls `take` with the size in bytes of each message, until it returns false; how often it
  /// returned true.
  template <class Take>
  std::size_t count_while(Take take) const {
    std::size_t n = 0;
    for (auto begin = begin_; next_ + n < places_.size(); ++n) {
      const auto& each = places_[next_ + n];
      if (!take(each.topic_size + each.value_end - begin))
        break;
      begin = each.value_end;
    }
    return n;
  }

private:
  struct place {
    std::size_t topic_begin;
    std::size_t topic_size;
    std::size_t value_end; // its value begins where that of the message before ends
  };

  std::string_view topic_of(const place& x) const noexcept {
    return {topics_.data() + x.topic_begin, x.topic_size};
  }

  std::vector<char> topics_;
  data_writer values_;
  std::vector<place> places_;
  std::size_t next_ = 0;
  std::size_t begin_ = 0; // of the value of the first message
};

} // namespace pubsub::broker
