#include "pattern/pipeline/task_pool.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::pattern {

std::size_t size_of_values(std::span<const std::byte> values, std::size_t n) {
  std::size_t size = 0;
  for (; n > 0; --n)
    size += data_view::from_valid(values.subspan(size)).bytes().size();
  return size;
}

bool task_pool::fits(const new_tasks& more) const noexcept {
  if (segments_.empty())
    return false;
  const auto& [tasks, upstream, open, losses] = segments_.back().all;
  const auto exchange = upstream.empty() ? endpoint_id{} : upstream.back().exchange;
  return tasks.source == more.source && tasks.redelivered == more.redelivered &&
         exchange == more.upstream.exchange && tasks.direct == more.upstream.direct &&
         tasks.size() < max_segment_tasks && tasks.values.size_bytes() < max_segment_bytes;
}

void task_pool::add(const new_tasks& more) {
  if (!fits(more)) {
    release(); // what comes now is of another kind, or enough has come
    auto& tasks = segments_.emplace_back().all.tasks;
    tasks.source = more.source;
    tasks.redelivered = more.redelivered;
    tasks.direct = more.upstream.direct;
  }
  auto& to = segments_.back().all;
  to.tasks.values.write_encoded(more.values);
  to.tasks.numbers.append({more.number, more.count});
  if (more.upstream.count > 0)
    append(to.upstream, more.upstream);
  size_ += more.count;
}

std::size_t task_pool::ready(std::size_t wanted) const noexcept {
  if (size_ == 0 || (released_ == 0 && size_ < wanted))
    return 0;
  const auto& first = segments_.front();
  return std::min(wanted, first.all.tasks.size() - first.next);
}

tracked_batch task_pool::cut(std::size_t n) {
  auto& from = segments_.front();
  tracked_batch result;
  const auto rest = from.all.tasks.size() - from.next;
  if (n == from.all.tasks.size()) {
    result = std::move(from.all);
  } else {
    const auto& tasks = from.all.tasks;
    result.tasks.source = tasks.source;
    result.tasks.redelivered = tasks.redelivered;
    result.tasks.direct = tasks.direct;
    for_each_part(tasks.numbers.runs(), from.next, n,
                  [&](const auto& run) { result.tasks.numbers.append(run); });
    for_each_part(from.all.upstream, from.next, n,
                  [&](const auto& run) { append(result.upstream, run); });
    const auto values = tasks.values.bytes().subspan(from.next_value);
    const auto size = n == rest ? values.size() : size_of_values(values, n);
    result.tasks.values.write_encoded(values.first(size));
    from.next_value += size;
    from.next += n;
  }
  if (n == rest)
    segments_.pop_front();
  size_ -= n;
  released_ -= std::min(released_, n);
  return result;
}

} // namespace pubsub::pattern
