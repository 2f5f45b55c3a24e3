// The way of bytes through the loop: from a socket into the schedule, from there to the other
// socket.
// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/link_loop.hpp"

#include <algorithm>

namespace emulator {

namespace {

// How long an end that is to be reset may take to read what came before.
constexpr std::chrono::seconds cut_patience{1};

} // namespace

void link_loop::read(tunnel& x, direction& d) {
  auto& f = x.*d.side;
  // One connection does not take all the room while others wait.
  const auto turn_bytes = std::max<std::size_t>(d.room_bytes / 8, 32 * 1024);
  for (std::size_t in_turn = 0; f.open && !f.held_back && !f.lost && in_turn < turn_bytes;) {
    const auto held = std::max(d.schedule.held_bytes(), f.bytes.size());
    if (held >= d.room_bytes)
      return hold_back(x, d);
    std::size_t count = 0;
    const auto result = f.read(d.room_bytes - held, count);
    if (result == flow::took::failed)
      return fail(x, d);
    if (result == flow::took::end) {
      f.open = false;
      d.schedule.enter(now_, x.id, part::end);
      return watch(x);
    }
    if (count > 0)
      d.schedule.enter(now_, x.id, count);
    d.read += count;
    in_turn += count;
    if (result == flow::took::all)
      return;
  }
}

void link_loop::hold_back(tunnel& x, direction& d) {
  (x.*d.side).held_back = true;
  d.held_back.push_back(x.id);
  watch(x);
}

void link_loop::let_go_on(direction& d) {
  const auto step = d.room_bytes / 8; // rather seldom, and much at once
  if (d.held_back.empty() || d.schedule.held_bytes() + step > d.room_bytes)
    return;
  std::erase_if(d.held_back, [&](std::uint64_t id) {
    auto* const x = find(id);
    if (x == nullptr)
      return true;
    auto& f = x->*d.side;
    if (f.bytes.size() + step > d.room_bytes)
      return false;
    f.held_back = false;
    watch(*x);
    return true;
  });
}

void link_loop::pass_on(direction& d) {
  while (const auto what = d.schedule.take(now_))
    if (auto* const x = find(what->connection))
      arrive(*x, d, *what);
  if (d.to_write.empty())
    return;
  active_ = now_;
  for (const auto id : d.to_write)
    if (auto* const x = find(id)) {
      (x->*d.side).listed = false;
      write(*x, d);
    }
  d.to_write.clear();
}

void link_loop::arrive(tunnel& x, direction& d, const link_schedule::passed& what) {
  auto& f = x.*d.side;
  switch (what.what) {
  case part::bytes:
    if (f.lost)
      return;
    f.out_bytes += what.bytes;
    break;
  case part::end:
    f.ended = true;
    break;
  case part::open:
    x.far = begin_connect(to_);
    x.connecting = static_cast<bool>(x.far);
    return x.connecting ? watch(x) : fail(x, down_);
  case part::opened:
    x.up.open = true;
    return watch(x);
  case part::reset:
    if (!x.cut) {
      x.cut = true;
      x.cut_at_last = now_ + cut_patience;
      cut_.push_back(x.id);
    }
    break;
  }
  if (!f.listed) {
    f.listed = true;
    d.to_write.push_back(x.id);
  }
}

void link_loop::write(tunnel& x, direction& d) {
  auto& f = x.*d.side;
  if (f.lost || !f.to)
    return;
  std::size_t count = 0;
  const auto result = f.write(count);
  d.delivered += count;
  if (result == flow::gave::failed)
    return fail(x, opposite(d));
  f.blocked = result == flow::gave::some;
  if (result == flow::gave::all && f.ended && !f.shut) {
    ::shutdown(f.to.fd(), SHUT_WR);
    f.shut = true;
    if (x.done())
      dead_.push_back(x.id);
  }
  watch(x);
}

// The source of `from` is gone: the other end will hear of it, and what goes there vanishes.
void link_loop::fail(tunnel& x, direction& from) {
  auto& f = x.*from.side;
  auto& back = opposite(from);
  if (!f.broken) {
    f.broken = true;
    f.open = false;
    from.schedule.enter(now_, x.id, part::reset);
  }
  if (auto& other = x.*back.side; !other.lost)
    back.lost += other.lose();
  watch(x);
}

void link_loop::cut_those_due() {
  std::erase_if(cut_, [&](std::uint64_t id) {
    auto* const x = find(id);
    if (x == nullptr)
      return true;
    auto ready = [](const flow& f) { return f.lost || (f.out_bytes == 0 && f.to.all_sent()); };
    const bool all_there = (!x->up.broken || ready(x->up)) && (!x->down.broken || ready(x->down));
    if (!all_there && now_ < x->cut_at_last)
      return false;
    x->reset();
    dead_.push_back(id);
    return true;
  });
}

} // namespace emulator
