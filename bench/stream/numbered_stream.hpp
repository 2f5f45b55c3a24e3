// The messages of the benchmarks: numbered, with an end mark that carries the total.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/subscriber.hpp>

#include "stream/payloads.hpp"
#include "stream/sequence_checker.hpp"

namespace pubsub::tool::bench {

/// A message is the vector [count number, payload], the end mark the vector [count total]. Where
/// several publishers share a topic, the upper 16 bits of the count name the publisher.
constexpr unsigned number_bits = 48;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

/// How a program handles messages: as bytes, written and read in place, or as values, of which each
/// message is a new tree.
enum class message_form : unsigned char { encoded, tree };

/// Publishes one numbered stream.
class numbered_publisher {
public:
  numbered_publisher(publisher& out, const payloads& contents, std::uint64_t stream,
                     message_form form = message_form::encoded);

  /// False once the endpoint takes no more.
  bool publish_next();
  /// Sends the end mark.
  void finish();
  std::uint64_t published() const noexcept { return number_; }

private:
  publish_result publish_bytes();
  publish_result publish_tree();

  publisher& out_;
  const payloads& contents_;
  std::uint64_t stream_;
  std::uint64_t number_ = 0;
  std::size_t next_payload_ = 0;
  data_writer writer_;
  std::vector<data> trees_; // the contents, where messages are published as trees
};

/// Checks numbered streams as they arrive.
class numbered_consumer {
public:
  explicit numbered_consumer(std::size_t streams, message_form form = message_form::encoded)
      : form_(form), checkers_(streams), totals_(streams) {}

  void visit(const data_message& msg);
  /// True once the end marks of all streams have come.
  bool ended() const noexcept { return ends_ == checkers_.size(); }
  /// Messages seen, end marks left out.
  std::uint64_t visited() const noexcept { return visited_; }
  /// Messages that were no part of any stream.
  std::uint64_t strange() const noexcept { return strange_; }
  /// Over all streams; one without end mark counts as published as far as it was seen.
  sequence_result result() const;
  /// True if every number up to the totals has come.
  bool complete() const;

private:
  void visit(std::size_t elements, std::uint64_t number);

  message_form form_;
  std::vector<sequence_checker> checkers_;
  std::vector<std::optional<std::uint64_t>> totals_;
  std::size_t ends_ = 0;
  std::uint64_t visited_ = 0;
  std::uint64_t strange_ = 0;
};

} // namespace pubsub::tool::bench
