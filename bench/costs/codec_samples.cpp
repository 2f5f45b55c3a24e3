// SPDX-License-Identifier: BSD-3-Clause
#include "costs/codec_samples.hpp"

#include <algorithm>
#include <utility>

#include "zeek_logs/log_reader.hpp"

namespace pubsub::tool::bench {

std::vector<codec_sample> samples_of_all_types() {
  using namespace std::chrono_literals;
  auto moment = timestamp{timespan{1'700'000'000'125'000'000}};
  auto network = address::v4(0xc0000200);
  table services{{"dns", count{53}},
                 {"http", count{80}},
                 {"ntp", count{123}},
                 {"ssh", count{22}},
                 {"ssl", count{443}}};
  return {
      {"none", none{}},
      {"boolean", true},
      {"count", count{1'234'567}},
      {"integer", integer{-1'234'567}},
      {"real", 1234.5},
      {"string", "CHhAvVGS1DHFjwGM9"},
      {"address", address::v4(0xc0000201)},
      {"subnet", subnet{network, 24}},
      {"port", port{443, transport::tcp}},
      {"timestamp", moment},
      {"timespan", timespan{250ms}},
      {"enum-value", enum_value{"Conn::LOG"}},
      {"set", set{count{1}, count{2}, count{3}, count{4}, count{5}}},
      {"table", std::move(services)},
      {"vector", vector{count{1}, count{2}, count{3}, count{4}, count{5}}},
  };
}

namespace {

std::size_t columns_set(const vector& record) {
  return static_cast<std::size_t>(
      std::count_if(record.begin(), record.end(), [](const data& x) { return !x.is<none>(); }));
}

} // namespace

expected<codec_sample> sample_of_log(const std::string& file) {
  zeek::log_options options;
#ifdef PUBSUB_HAS_JSON
  options.json_parser = &zeek::make_json_log_parser;
#endif
  auto reader = zeek::log_reader::open(file, options);
  if (!reader)
    return reader.error();
  vector best;
  std::size_t most = 0;
  for (;;) {
    auto record = reader->next();
    if (!record)
      continue; // a bad line: the next one may do
    if (!*record)
      break;
    auto n = columns_set((*record)->values);
    if (n > most)
      best = std::move((*record)->values);
    most = std::max(n, most);
  }
  if (most == 0)
    return error{errc::invalid_data, file + ": no record that could be read"};
  const auto& path = reader->schema().path;
  return codec_sample{path + " event, " + std::to_string(most) + " fields",
                      zeek::make_log_event(path, std::move(best))};
}

} // namespace pubsub::tool::bench
