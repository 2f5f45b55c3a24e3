// The part of the session that ends a peering in good order: what has gone over the link arrives
// where it is for before the link goes, and what follows another way does not overtake it.
#include "node/peering/session.hpp"

#include <algorithm>
#include <cstring>

#include "node/peering/peering.hpp"

namespace pubsub {

namespace {

constexpr std::string_view goodbye = "BYE";
// The other side waits for our answer with a limit of its own, which we do not know.
constexpr std::chrono::milliseconds patience_of_those_left{500};
constexpr std::chrono::milliseconds longest_patience{1000};

} // namespace

/// `BYE` and eight bytes only this side interprets (broker-wire-v1, section 10).
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
  asio::post(link_->loop(), [self = shared_from_this(), timeout, behind = std::move(behind)] {
    if (self->closed_ || std::exchange(self->leaving_, true))
      return; // a timer would keep alive what has ended
    self->part(std::min(timeout / 2, longest_patience), behind, [&x = *self] {
      x.link_->push_last(wire::make_ping(x.peering_->self(), x.remote(), x.goodbye_));
    });
    self->arm_timer(timeout, {errc::peer_timeout, "timeout during graceful disconnect"});
  });
}

/// A peer of version 2 leaves: nothing new goes there, and it gets our answer behind what waits for
/// it.
void session::on_goodbye(std::span<const std::byte> payload) {
  auto answer = [this, pong = wire::make_pong(peering_->self(), remote(), payload)] {
    link_->push_control(pong);
  };
  if (std::exchange(left_, true))
    return answer();
  part(patience_of_those_left, peering_->routes().remove_peer(remote()), std::move(answer));
}

/// The last words are said when the nodes that were reached over this link have got what went to
/// them, or patience ends. (Version 1 has no flushes, and no nodes behind a peer.)
void session::part(std::chrono::milliseconds patience, const std::vector<endpoint_id>& behind,
                   std::function<void()> last_words) {
  parting_until_ = std::chrono::steady_clock::now() + patience;
  last_words_.push_back(std::move(last_words));
  for (std::size_t hops = 0; hops < wire::max_hops && !behind.empty(); ++hops)
    if ((link_->hops_in_use() >> hops & 1) != 0)
      parting_.push_back(
          peering_->routes().flushes().begin({link_, hops, behind}, [weak = weak_from_this()] {
            if (auto self = weak.lock())
              self->call_back({});
          }));
  say_last_words();
}

void session::say_last_words() {
  if (last_words_.empty())
    return;
  std::erase_if(parting_, [](const auto& flush) { return flush->settled(); });
  if (!parting_.empty() && std::chrono::steady_clock::now() < parting_until_)
    return call_back(route_flush::repeat_interval);
  parting_.clear();
  for (const auto& say : std::exchange(last_words_, {}))
    say();
}

} // namespace pubsub
