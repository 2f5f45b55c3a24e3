// What `pubsub top` shows: the nodes of a network, their links and subscribers, as rows of numbers.
// It knows nothing of terminals, and asks no node: it is told what was answered.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/error.hpp>

#include "status_reader.hpp"

namespace pubsub::tool {

/// How a node, a link or a subscriber is; what is worse comes later.
enum class health : std::uint8_t {
  good,
  asked,      ///< the first answer has not come yet
  untold,     ///< the node does not tell its status
  connecting, ///< a link that has not been established yet
  retiring,   ///< a node that passes nothing on any more
  full,       ///< a queue that has little room left
  dropping,   ///< messages have been lost since the answer before
  lost,       ///< a link to a peer that is gone
  silent,     ///< a node that does not answer, or cannot be reached any more
};

/// Why messages were lost, how many, and how many a second since the answer before.
struct loss {
  std::string reason;
  std::uint64_t count = 0;
  double rate = 0;
};

/// One line of a table. Rates are per second, between the last two answers.
struct row {
  std::string key{}; ///< tells rows apart, also from one refresh to the next
  std::string name{};
  health how = health::good;
  std::string state{};              ///< `how` in words, with a time where that matters
  std::optional<double> silent_s{}; ///< since the last answer of a node that is silent
  bool rates_known = false;         ///< the last two questions were answered
  double in = 0;                    ///< messages
  double out = 0;
  double bytes_in = 0;
  double bytes_out = 0;
  std::uint64_t queued = 0;   ///< messages that wait
  double full = 0;            ///< the share of its capacity that the fullest queue holds
  double credit_waits = 0;    ///< times that a link began to wait for credit of its peer
  std::vector<loss> losses{}; ///< the most frequent first
  std::optional<double> up_s{};
  std::optional<std::uint64_t> links{};   ///< to relays
  std::optional<std::uint64_t> clients{}; ///< of a node, or folded into this row
  std::optional<double> round_trip_s{};   ///< of a link
  std::vector<std::string> details{};     ///< what there is no column for, a few lines

  double drops() const;
  std::uint64_t dropped() const;
};

/// Whether the clients of a relay are one row, with sums, or a row each.
enum class clients_shown : std::uint8_t { folded, unfolded };

/// In one sentence how the network is, and the worst of it.
struct network_summary {
  std::string text;
  health worst = health::good;
};

class network_model {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// `asker`: the id of this program, which a node lists among its peers.
  explicit network_model(std::string asker) : asker_(std::move(asker)) {}

  /// The node through which the others are reached. It may change, as when that node restarts.
  void take_entry(const std::string& id);
  /// The other nodes, as the entry knows them. Nodes that it knows no longer are kept as silent.
  void take_network(const network_report& report);
  void take_status(node_report report, time_point now);
  /// The node did not answer the last question.
  void take_failure(const std::string& id, const error& problem);
  /// No longer shows nodes that are silent.
  void forget_silent();

  /// Those that may answer.
  std::vector<std::string> ids() const;
  /// The id of a node by its name, its id or the beginning of that; nothing where there is none.
  std::optional<std::string> find(const std::string& name) const;
  /// The name of a node for people; with a part of its id where others have the same.
  std::string name_of(const std::string& id) const;
  bool knows(const std::string& id) const { return nodes_.contains(id); }
  const std::string& entry() const noexcept { return entry_; }
  bool is_silent(const std::string& id) const;

  network_summary summary(time_point now) const;
  std::vector<row> nodes(time_point now) const;
  std::vector<row> links(const std::string& node, clients_shown how) const;
  std::vector<row> subscribers(const std::string& node) const;

private:
  struct known_node {
    std::string name;
    bool reachable = true;
    bool relays = true;
    std::optional<node_report> last;
    std::optional<node_report> before; ///< of the same run of the node
    time_point answered{};
    std::optional<error> failure; ///< of the last question
  };

  row describe(const std::string& id, const known_node& node, time_point now) const;
  void add_numbers(row& to, const known_node& known) const;
  row describe(const peer_report& peer, const known_node& at) const;
  row describe_clients(const known_node& at) const;
  std::uint64_t count_clients(const node_report& node) const;
  const known_node* node(const std::string& id) const;

  std::string asker_;
  std::string entry_;
  std::uint64_t left_out_ = 0;
  std::map<std::string, known_node> nodes_;
};

} // namespace pubsub::tool
