// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/link_loop.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "studies/emulator/processors.hpp"

namespace emulator {

namespace {

using namespace std::chrono_literals;

// Keys of epoll: two for each connection, whose numbers begin at 1.
constexpr std::uint64_t listener_key = 0;
constexpr std::uint64_t wake_key = 1;
constexpr std::uint64_t near_key(std::uint64_t id) {
  return 2 * id;
}
constexpr std::uint64_t far_key(std::uint64_t id) {
  return 2 * id + 1;
}

constexpr int urgent = -10;

// A piece is what a packet holds, or what passes in a time nobody can tell from none.
std::size_t piece_bytes(double bits_per_s, std::chrono::nanoseconds round_trip) {
  const auto ns = std::max(50e3, static_cast<double>(round_trip.count()) / 100);
  return std::max<std::size_t>(1460, static_cast<std::size_t>(bits_per_s / 8e9 * ns));
}

} // namespace

link_loop::link_loop(socket listener, const socket_address& to, const link_settings& settings,
                     const own_costs& costs)
    : listener_(std::move(listener)), to_(to), costs_(costs),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      now_(clock::now()), active_(now_) {
  if (!epoll_ || !wake_)
    throw std::system_error(errno, std::generic_category(), "epoll");
  std::uint32_t watched = 0;
  watch(wake_.fd(), wake_key, EPOLLIN, watched);
  watch_listener();
  apply(settings);
}

link_loop::~link_loop() {
  for (auto& [id, x] : tunnels_)
    x.reset();
}

void link_loop::run() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);        // wake when asked to, not some 50 us later
  ::setpriority(PRIO_PROCESS, 0, urgent); // of this thread; where it is not allowed, go on without
  stay_on_last_processor();
  while (!stopping_) {
    now_ = clock::now();
    pass_on(up_);
    pass_on(down_);
    cut_those_due();
    bury();
    let_go_on(up_);
    let_go_on(down_);
    wait();
  }
}

void link_loop::stop() {
  stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_.fd(), &one, sizeof one);
}

void link_loop::change(const link_settings& settings) {
  {
    std::lock_guard lock{mutex_};
    next_settings_ = settings;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_.fd(), &one, sizeof one);
}

void link_loop::apply_change() {
  std::uint64_t count = 0;
  [[maybe_unused]] auto got = ::read(wake_.fd(), &count, sizeof count);
  std::optional<link_settings> fresh;
  {
    std::lock_guard lock{mutex_};
    fresh.swap(next_settings_);
  }
  if (fresh)
    apply(*fresh);
}

void link_loop::apply(const link_settings& settings) {
  const auto round_trip = settings.round_trip;
  const bool awake = round_trip <= own_costs::longest_awake;
  const auto delay = std::max(round_trip - costs_.at(round_trip), std::chrono::nanoseconds{0}) / 2;
  auto set = [&](direction& d, double bits_per_s) {
    d.schedule.change(now_, bits_per_s, delay, piece_bytes(bits_per_s, round_trip));
    d.room_bytes = link_room_bytes(bits_per_s, round_trip);
  };
  set(up_, settings.up_bits_per_s);
  set(down_, settings.down_bits_per_s);
  spin_ = awake ? 100us : 0us;
  linger_ = awake ? 2 * round_trip + 200us : 0us;
}

// A message's way is short: what is due soon, and what may come soon, finds this thread awake.
void link_loop::wait() {
  const auto up = up_.schedule.next();
  const auto down = down_.schedule.next();
  auto due = up && down ? std::min(*up, *down) : up ? *up : down.value_or(time_point::max());
  if (!cut_.empty())
    due = std::min(due, now_ + 1ms);
  const auto asleep_until = due == time_point::max() ? due : due - spin_;
  if (asleep_until > now_ && now_ - active_ >= linger_) {
    const auto ns = due == time_point::max() ? std::chrono::nanoseconds{1h} : asleep_until - now_;
    const auto s = std::chrono::duration_cast<std::chrono::seconds>(ns);
    const ::timespec limit{s.count(), static_cast<long>((ns - s).count())};
    pollfd entry{epoll_.fd(), POLLIN, 0};
    ::ppoll(&entry, 1, &limit, nullptr);
  }
  epoll_event events[64];
  const auto n = ::epoll_wait(epoll_.fd(), events, 64, 0);
  now_ = clock::now();
  if (n > 0)
    active_ = now_;
  for (int i = 0; i < n; ++i)
    dispatch(events[i]);
}

void link_loop::dispatch(const epoll_event& event) {
  const auto key = event.data.u64;
  if (key == listener_key)
    return accept_all();
  if (key == wake_key)
    return apply_change();
  auto* const x = find(key / 2);
  if (x == nullptr)
    return;
  const bool is_near = key == near_key(x->id);
  if (!is_near && x->connecting)
    return finish_connecting(*x);
  auto& in = is_near ? up_ : down_;
  // An end that is gone is heard of by trying whichever of the two is wanted.
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLIN)) != 0)
    write(*x, opposite(in));
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0)
    read(*x, in);
}

void link_loop::accept_all() {
  for (;;) {
    socket near{::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!near) {
      full_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      return watch_listener();
    }
    near.tune();
    ++accepted_;
    ++open_;
    const auto id = ++last_id_;
    tunnels_.try_emplace(id, pool_, id, std::move(near));
    up_.schedule.enter(now_, id, part::open);
  }
}

void link_loop::finish_connecting(tunnel& x) {
  x.connecting = false;
  if (x.far.error() != 0)
    return fail(x, down_);
  down_.schedule.enter(now_, x.id, part::opened);
  x.down.open = true;
  watch(x);
}

void link_loop::watch(tunnel& x) {
  watch(x.near.fd(), near_key(x.id), x.wanted_near(), x.watched_near);
  watch(x.far.fd(), far_key(x.id), x.wanted_far(), x.watched_far);
}

// A socket nothing is wanted from is not watched at all: epoll would go on about its end.
void link_loop::watch(int fd, std::uint64_t key, std::uint32_t wanted, std::uint32_t& watched) {
  if (fd < 0 || wanted == watched)
    return;
  const auto action = wanted == 0 ? EPOLL_CTL_DEL : watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = key;
  ::epoll_ctl(epoll_.fd(), action, fd, &event);
  watched = wanted;
}

void link_loop::watch_listener() {
  watch(listener_.fd(), listener_key, full_ ? 0U : static_cast<std::uint32_t>(EPOLLIN),
        watched_listener_);
}

tunnel* link_loop::find(std::uint64_t id) {
  const auto found = tunnels_.find(id);
  return found == tunnels_.end() ? nullptr : &found->second;
}

void link_loop::bury() {
  if (dead_.empty())
    return;
  for (const auto id : dead_)
    if (auto* const x = find(id)) {
      up_.lost += x->up.bytes.size();
      down_.lost += x->down.bytes.size();
      tunnels_.erase(id);
      --open_;
    }
  dead_.clear();
  full_ = false;
  watch_listener();
}

link_counters link_loop::counters() const {
  auto held = [](const direction& d) {
    const auto gone = d.delivered + d.lost; // before what was read: never more than that
    return d.read - gone;
  };
  return {accepted_, open_, up_.delivered, down_.delivered, held(up_), held(down_)};
}

} // namespace emulator
