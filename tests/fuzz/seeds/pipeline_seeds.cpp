// Inputs that fuzz_pipeline begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/ids.hpp"
#include "fuzz/seeds/seeds.hpp"

#include "pattern/pipeline/task_messages.hpp"

namespace pubsub::fuzz::pipeline_seeds {

namespace {

using namespace pattern;

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  const auto keep = [&](auto write) {
    data_writer out;
    write(out);
    result.push_back(as_text(out));
  };
  task_batch batch;
  batch.source = {id_of(3), 9};
  for (const std::uint64_t number : {4, 5, 9}) {
    batch.numbers.append(number);
    batch.values.write_count(number);
  }
  keep([&](auto& out) { write(out, message_of({id_of(1), 17, 3, true}, batch)); });
  batch.direct = batch.redelivered = true;
  keep([&](auto& out) { write(out, message_of({id_of(1), 0, 0, false}, batch)); });
  queue_report report;
  report.queue = id_of(2);
  report.credit = 10;
  report.received = 8;
  report.taken = 7;
  report.done = 2;
  report.done_above = {{3, 1}, {5, 1}};
  report.rejected = {{4, 1}};
  keep([&](auto& out) { write(out, report); });
  keep([&](auto& out) { write(out, exchange_hello{id_of(1), 5}); });
  keep([&](auto& out) { write(out, progress_report{id_of(1), 99}); });
  keep([&](auto& out) { write(out, completion{9, {{2, 2}, {6, 1}}}); });
  return result;
}

std::vector<std::string> words() {
  return {std::string(16, '\1'), std::string(16, '\2'), std::string(16, '\3')};
}

const target_seeds announced{"pipeline", seeds, words};

} // namespace

} // namespace pubsub::fuzz::pipeline_seeds
