// Inputs that fuzz_remote begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/ids.hpp"
#include "fuzz/seeds/seeds.hpp"

#include "pattern/remote/remote_messages.hpp"

#include <pubsub/pattern/remote_options.hpp>

#include <iterator>
#include <span>

namespace pubsub::fuzz::remote_seeds {

namespace {

using namespace pattern;

const endpoint_id client_id = id_of(1); // those of the play in fuzz_remote.cpp
const endpoint_id instance_id = id_of(2);

/// Messages as peers write them, with numbers that fit a play.
std::vector<std::string> messages() {
  std::vector<std::string> result;
  const auto keep = [&](const auto& message) {
    data_writer out;
    write(out, message);
    result.push_back(as_text(out));
  };
  data_writer values, outcomes;
  for (const std::uint64_t each : {4, 5, 9})
    values.write_count(each);
  outcomes.write_count(4);
  write_error(outcomes, {errc::type_clash, "x"});
  outcomes.write_count(9);
  const value_list three{3, values.bytes()};
  const std::vector<offered_operation> operations{{"op", false}, {"again", true}};
  keep(service_status{instance_id, false, 2, operations});
  keep(service_status{id_of(3), false, 1, operations});
  keep(service_hello{client_id});
  keep(service_request<value_list>{client_id, 1, 0, "op", three});
  keep(service_request<value_list>{id_of(4), 2, 7, "again", three});
  service_reply<value_list> reply{instance_id, 1, 1'000, 500, {{0, 2}, {4, 1}}, {{1, 1}}, {{2, 2}}};
  reply.results = {3, outcomes.bytes()};
  keep(reply);
  keep(service_reply<value_list>{id_of(3), 2, 0, 0, {}, {}, {{0, 3}}});
  keep(cancel_request{client_id, 1, 7});
  keep(service_status{id_of(3), true, 1, operations});
  return result;
}

void append_text(data_writer& out, const std::string& value) {
  out.write_encoded(std::as_bytes(std::span{value}));
}

std::vector<std::string> seeds() {
  auto result = messages();
  const auto all = messages();
  const std::uint64_t events[] = {190, 150, 21,    2, 2,  13, 34, 1,  2,  3, 250, 1, 72,
                                  7,   17,  5'005, 8, 18, 28, 6,  36, 19, 9, 2,   3, 30'005};
  for (std::uint64_t mode = 0; mode < std::size(all_remote_modes); ++mode) {
    data_writer out;
    out.begin_vector(1 + all.size() + std::size(events));
    out.write_count(60 + mode);
    append_text(out, all[0]);
    for (std::size_t i = 0; i < std::size(events); ++i) {
      out.write_count(events[i]);
      if (i % 3 == 2 && 1 + i / 3 < all.size())
        append_text(out, all[1 + i / 3]);
    }
    result.push_back(as_text(out));
  }
  return result;
}

std::vector<std::string> words() {
  auto result = messages();
  for (const std::uint8_t id : {1, 2, 3, 4})
    result.emplace_back(16, static_cast<char>(id));
  data_writer out;
  for (std::uint64_t event = 0; event < 10; ++event) {
    out.clear();
    out.write_count(event);
    result.push_back(as_text(out));
  }
  return result;
}

const target_seeds announced{"remote", seeds, words};

} // namespace

} // namespace pubsub::fuzz::remote_seeds
