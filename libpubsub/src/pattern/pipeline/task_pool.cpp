#include "pattern/pipeline/task_pool.hpp"

namespace pubsub::pattern {

bool task_pool::fits(const new_tasks& more) const noexcept {
  if (segments_.empty())
    return false;
  const auto& last = segments_.back();
  return last.source == more.source && last.redelivered == more.redelivered &&
         last.upstream == more.upstream.exchange && last.direct == more.upstream.direct &&
         last.ends.size() < max_segment_tasks && last.values.size_bytes() < max_segment_bytes;
}

void task_pool::add(const new_tasks& more) {
  if (!fits(more)) {
    release(); // what comes now is of another kind, or enough has come
    segments_.push_back({.source = more.source,
                         .redelivered = more.redelivered,
                         .upstream = more.upstream.exchange,
                         .direct = more.upstream.direct});
  }
  auto& to = segments_.back();
  const auto before = to.values.size_bytes();
  const auto n = more.ends.size();
  to.values.write_encoded(more.values);
  to.numbers.append({more.number, n});
  if (!to.upstream.is_nil())
    to.places.append({more.upstream.place, n});
  for (const auto end : more.ends)
    to.ends.push_back(before + end);
  size_ += n;
}

std::size_t task_pool::ready(std::size_t wanted) const noexcept {
  if (size_ == 0 || (released_ == 0 && size_ < wanted))
    return 0;
  const auto& first = segments_.front();
  return std::min(wanted, first.ends.size() - first.next);
}

task_pool::cutting task_pool::cut(std::size_t n) {
  auto& from = segments_.front();
  cutting result;
  result.tasks.source = from.source;
  result.tasks.redelivered = from.redelivered;
  for (std::uint64_t left = n; left > 0;) {
    const auto run = from.numbers.take(left);
    result.tasks.numbers.append(run);
    left -= run.count;
  }
  for (std::uint64_t left = from.upstream.is_nil() ? 0 : n; left > 0;) {
    const auto run = from.places.take(left);
    append(result.upstream, {from.upstream, run.first, run.count, from.direct});
    left -= run.count;
  }
  take_values(from, n, result.tasks.values);
  if (from.next == from.ends.size())
    segments_.pop_front();
  size_ -= n;
  released_ -= std::min(released_, n);
  return result;
}

void task_pool::take_values(segment& from, std::size_t n, data_writer& to) {
  const auto begin = from.next == 0 ? 0 : from.ends[from.next - 1];
  from.next += n;
  if (n == from.ends.size())
    to = std::move(from.values);
  else
    to.write_encoded(from.values.bytes().subspan(begin, from.ends[from.next - 1] - begin));
}

} // namespace pubsub::pattern
