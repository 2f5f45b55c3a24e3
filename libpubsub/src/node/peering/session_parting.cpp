// The part of the session that ends a peering in good order: what has gone over the link arrives
// where it is for before the link goes, and what follows another way does not overtake it.
#include "node/peering/session.hpp"

#include <algorithm>
#include <cstring>

#include "node/peering/tuning.hpp"
#include "node/routing/tuning.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub {

using namespace peering_tuning;

namespace {

constexpr std::string_view goodbye = "BYE";

} // namespace

/// `BYE` and eight bytes only this side interprets.
session::token session::make_goodbye_token() {
  token result;
  std::ranges::copy(std::as_bytes(std::span{goodbye}), result.begin());
  std::memcpy(result.data() + goodbye.size(), endpoint_id::random().bytes().data(),
              result.size() - goodbye.size());
  return result;
}

bool session::is_goodbye(std::span<const std::byte> payload) {
  return payload.size() == token{}.size() &&
         std::ranges::equal(payload.first(goodbye.size()), std::as_bytes(std::span{goodbye}));
}

void session::leave(std::chrono::milliseconds timeout, std::vector<endpoint_id> behind) {
  link_->post([self = shared_from_this(), timeout, behind = std::move(behind)] {
    if (self->closed_ || std::exchange(self->leaving_, true))
      return; // a timer would keep alive what has ended
    if (self->prober_)
      self->prober_->stop();
    self->part(std::min(timeout / 2, longest_patience), behind, [&x = *self] {
      x.link_->push_last(wire::make_ping(x.owner_->self(), x.remote(), x.goodbye_));
    });
    self->arm_timer(timeout, {errc::peer_timeout, "timeout during graceful disconnect"});
  });
}

/// A peer of version 2 leaves: nothing new goes there, and it gets our answer behind what waits for
/// it.
void session::on_goodbye(std::span<const std::byte> payload) {
  auto answer = [this, pong = wire::make_pong(owner_->self(), remote(), payload)] {
    link_->push_control(pong);
  };
  if (std::exchange(left_, true))
    return answer();
  part(patience_of_those_left, owner_->routes().remove_peer(remote()), std::move(answer));
}

/// The last words are said when the nodes that were reached over this link have got what went to
/// them, or patience ends. (Version 1 has no flushes, and no nodes behind a peer.)
void session::part(std::chrono::milliseconds patience, const std::vector<endpoint_id>& behind,
                   std::function<void()> last_words) {
  parting_until_ = link_->now() + patience;
  last_words_.push_back(std::move(last_words));
  for (std::size_t hops = 0; hops < wire::max_hops && !behind.empty(); ++hops)
    if ((link_->hops_in_use() >> hops & 1) != 0)
      parting_.push_back(
          owner_->routes().flushes().begin({link_, hops, behind}, [weak = weak_from_this()] {
            if (auto self = weak.lock())
              self->call_back({});
          }));
  say_last_words();
}

void session::say_last_words() {
  if (last_words_.empty())
    return;
  std::erase_if(parting_, [](const auto& flush) { return flush->settled(); });
  if (!parting_.empty() && link_->now() < parting_until_)
    return call_back(routing_tuning::time_between_flushes);
  parting_.clear();
  for (const auto& say : std::exchange(last_words_, {}))
    say();
}

} // namespace pubsub
