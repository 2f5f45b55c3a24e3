#include "pattern/task_pool.hpp"

namespace pubsub::pattern {

bool task_pool::fits(const new_task& task) const noexcept {
  if (segments_.empty())
    return false;
  const auto& last = segments_.back();
  return last.source == task.source && last.redelivered == task.redelivered &&
         last.upstream == task.upstream.exchange && last.direct == task.upstream.direct &&
         last.tasks.size() < max_segment_tasks && last.values.size_bytes() < max_segment_bytes;
}

void task_pool::add(const new_task& task) {
  if (!fits(task)) {
    release(); // what comes now is of another kind, or enough has come
    segments_.push_back({.source = task.source,
                         .redelivered = task.redelivered,
                         .upstream = task.upstream.exchange,
                         .direct = task.upstream.direct,
                         .tasks = {},
                         .values = {}});
  }
  auto& to = segments_.back();
  to.values.write_encoded(task.value);
  to.tasks.push_back({task.number, task.upstream.place, to.values.size_bytes()});
  ++size_;
}

std::size_t task_pool::ready(std::size_t wanted) const noexcept {
  if (size_ == 0 || (released_ == 0 && size_ < wanted))
    return 0;
  const auto& first = segments_.front();
  return std::min(wanted, first.tasks.size() - first.next);
}

task_pool::cutting task_pool::cut(std::size_t n) {
  auto& from = segments_.front();
  cutting result;
  result.tasks.source = from.source;
  result.tasks.redelivered = from.redelivered;
  const auto begin = from.next == 0 ? 0 : from.tasks[from.next - 1].end;
  const auto end = from.next + n;
  for (; from.next < end; ++from.next) {
    const auto& each = from.tasks[from.next];
    result.tasks.numbers.append(each.number);
    if (!from.upstream.is_nil())
      append(result.upstream, {from.upstream, each.place, 1, from.direct});
  }
  result.tasks.values.write_encoded(
      from.values.bytes().subspan(begin, from.tasks[end - 1].end - begin));
  if (end == from.tasks.size())
    segments_.pop_front();
  size_ -= n;
  released_ -= std::min(released_, n);
  return result;
}

} // namespace pubsub::pattern
