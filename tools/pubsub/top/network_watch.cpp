// SPDX-License-Identifier: BSD-3-Clause
#include "top/network_watch.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::tool {

namespace {

/// Each waits for one node at a time, and does nothing else: so many answer within a round trip or
/// two where there are hundreds, and no more than so many questions are on their way.
constexpr std::size_t threads_that_ask = 16;

/// Room for the counters and ten links or so.
constexpr std::size_t bytes_of_overview = 16'000;
/// Room for a hundred links; a node that has more tells its relays first.
constexpr std::size_t bytes_of_close_look = 128'000;

/// What the question for the nodes of the network is about: the id of no node.
const std::string about_network = "network";

std::optional<endpoint_id> entry_of(const endpoint& ep) {
  const auto peers = ep.peers();
  const auto found = std::ranges::find(peers, peer_state::peered, &peer_info::state);
  return found == peers.end() ? std::nullopt : std::optional{found->id};
}

} // namespace

network_watch::network_watch(endpoint& ep, network_model& model, std::chrono::nanoseconds timeout)
    : ep_(ep), model_(model), timeout_(timeout), asker_(threads_that_ask) {}

network_watch::~network_watch() {
  ep_.close();
}

void network_watch::ask() {
  asked_.clear();
  const auto entry = entry_of(ep_);
  if (!entry) {
    const error gone{errc::peer_unavailable, "the link of this program is lost; it tries again"};
    for (const auto& each : model_.ids())
      model_.take_failure(each, gone);
    return;
  }
  model_.take_entry(to_string(*entry));
  asker_.ask(about_network, expectation::soon,
             [this, node = *entry] { return ep_.network_of(node, timeout_); });
  ask_nodes();
}

void network_watch::ask_nodes() {
  for (const auto& each : model_.ids())
    if (asked_.insert(each).second)
      ask_node(each);
}

void network_watch::ask_node(const std::string& id) {
  const auto node = endpoint_id::parse(id);
  if (!node)
    return model_.take_failure(id, node.error());
  const auto bytes = close_at_all_ || id == close_ ? bytes_of_close_look : bytes_of_overview;
  asker_.ask(id, model_.is_silent(id) ? expectation::late : expectation::soon,
             [this, node = *node, bytes] { return ep_.status_of(node, timeout_, bytes); });
}

bool network_watch::take() {
  const auto answers = asker_.take();
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [about, text] : answers) {
    if (about == about_network) {
      // Without an answer the nodes that are known already are asked all the same.
      if (const auto network = text ? read_network(*text) : expected<network_report>{text.error()})
        model_.take_network(*network);
      ask_nodes();
    } else if (auto node = text ? read_status(*text) : expected<node_report>{text.error()}) {
      model_.take_status(std::move(*node), now);
    } else {
      model_.take_failure(about, node.error());
    }
  }
  return !answers.empty();
}

} // namespace pubsub::tool
