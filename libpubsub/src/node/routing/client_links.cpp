// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/client_links.hpp"

namespace pubsub {

void client_links::add_client(const endpoint_id& who, std::shared_ptr<peer_link> via, bool host,
                              std::string name) {
  clients_.add(who, std::move(via), std::move(name));
  const auto lie = table_.reported_by(who); // clients are nodes that no other node knows
  table_.change_node(who, 0, {}, lie);
  if (host)
    network_.add_host(who);
}

bool client_links::start(const endpoint_id& client) {
  const auto filter = clients_.start(client);
  if (filter)
    table_.change_client(client, filter->number, filter->added, {});
  return filter.has_value();
}

bool client_links::remove(const endpoint_id& who) {
  network_.remove_host(who);
  if (const auto left = clients_.remove(who)) {
    interests_.remove(who);
    table_.note_touched(!interests_.empty());
    table_.change_client(who, 0, {}, left->removed);
    return true;
  }
  if (!serving_.contains(who))
    return false;
  apply(serving_.remove(who));
  return true;
}

bool client_links::receive(const endpoint_id& client, const any_report& report) {
  const auto* const news = std::get_if<filter_report>(&report);
  if (news == nullptr || news->about.node != client)
    return false;
  const auto changed = clients_.receive(*news);
  if (changed && clients_.has_started(client))
    table_.change_client(client, changed->number, changed->added, changed->removed);
  return changed.has_value();
}

bool client_links::receive_served(const endpoint_id& from, const endpoint_id& by,
                                  const link_directory& within_reach) {
  if (clients_.contains(from)) {
    clients_.serve(from, by, within_reach, served_news_);
    return false;
  }
  const auto changed = serving_.note_reach(from, by);
  apply(changed);
  return !changed.begin.empty() || !changed.end.empty();
}

void client_links::apply(const serving_relays::change& x) {
  for (const auto& each : x.begin)
    network_.add_host(each);
  for (const auto& each : x.end)
    network_.leave_host(each);
}

letters client_links::take_news() {
  letters result;
  const auto add = [&](const endpoint_id& to, std::vector<std::byte> frame) {
    if (auto via = clients_.link_of(to))
      result.push_back({{std::move(via)}, std::move(frame)});
  };
  for (const auto& each : std::exchange(served_news_, {}))
    add(each.to, wire::make_served(each.reached));
  for (const auto& each : std::exchange(interest_news_, {}))
    add(each.to, wire::make_wanted(each.what));
  return result;
}

} // namespace pubsub
