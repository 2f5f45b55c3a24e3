// Inputs that fuzz_versioned begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/ids.hpp"
#include "fuzz/seeds/seeds.hpp"

#include "pattern/versioned/protocol/versioned_messages.hpp"

namespace pubsub::fuzz::versioned_seeds {

namespace {

using namespace pattern;

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  const auto keep = [&](const auto& x) {
    data_writer out;
    write(out, x);
    result.push_back(as_text(out));
  };
  data_writer two;
  two.write_count(1);
  two.write_string("x");
  const value_list values{2, two.bytes()};
  const version_run run{1, 2, {1, 1}, 1};
  const std::vector<endpoint_id> members{id_of(1), id_of(3), id_of(4)};
  keep(hello_message{id_of(2)});
  const epoch_state at{id_of(9), 1, id_of(3), 1, id_of(3), {}, {1, 1, members}, 1};
  keep(status_message{id_of(3), "b", 3, 100, at, true, true, 2, 2, 3});
  keep(submit_message{id_of(9), id_of(2), id_of(3), 0, 1, 1, 2, values});
  keep(submit_message{id_of(9), id_of(2), id_of(3), 1, 1, 1, 2, {}});
  keep(submit_message{id_of(9), id_of(2), id_of(3), 4, 1, 1, 2, values});
  keep(submit_message{id_of(9), id_of(2), id_of(3), 5, 1, 1, 2, values});
  keep(record_message{id_of(9), 1, 2, record_flag::ack_client, id_of(2), run, values});
  keep(record_message{id_of(9), 1, 2, record_flag::submitted, id_of(2), run, {}});
  for (std::uint64_t what = 0; what < 4; ++what)
    keep(reply_message{id_of(3), 1, what, {run}});
  keep(held_message{id_of(9), id_of(3), 1, 1, 2, false});
  keep(held_message{id_of(9), id_of(3), 1, 1, 0, true});
  keep(commit_message{id_of(9), 1, 2});
  keep(prepare_message{id_of(9), id_of(3), 2, members});
  keep(start_message{at, 3, 1, 3, {{2, 1}, {3, 2}}});
  data_writer state;
  state.write_count(5);
  keep(snapshot_message{id_of(9), 1, {1, 2}, {{id_of(2), 3, {run}}}, {1, state.bytes()}});
  keep(snapshot_message{id_of(9), 1, {0, 4}, {}, {}});
  return result;
}

std::vector<std::string> words() {
  return {std::string(16, '\1'), std::string(16, '\2'), std::string(16, '\3'),
          std::string(16, '\t')};
}

const target_seeds announced{"versioned", seeds, words};

} // namespace

} // namespace pubsub::fuzz::versioned_seeds
