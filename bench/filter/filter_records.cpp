// SPDX-License-Identifier: BSD-3-Clause
#include "filter/filter_records.hpp"

#include <algorithm>
#include <utility>

#include <pubsub/binary.hpp>
#include <pubsub/zeek/log.hpp>
#ifdef PUBSUB_HAS_REGEX
#include <pubsub/regex.hpp>
#endif

#include "zeek_logs/log_reader.hpp"

namespace pubsub::tool::bench {

namespace {

constexpr std::size_t most_records = 1'000'000;

std::string line_of(const vector& record) {
  std::string result;
  for (const auto& each : record) {
    auto text = to_string(each);
    std::ranges::replace(text, '/', ' '); // of a port, as Zeek's logs have it beside the protocol
    result += text + " ";
  }
  return result;
}

} // namespace

expected<filter_records> read_records(const std::string& log) {
  auto reader = zeek::log_reader::open(log, {});
  if (!reader)
    return reader.error();
  filter_records result;
  std::vector<std::size_t> ends;
  while (ends.size() < most_records) {
    auto record = reader->next();
    if (!record)
      continue; // a bad line
    if (!*record)
      break;
    result.lines.push_back(line_of((*record)->values));
    auto bytes =
        encode_binary(zeek::make_log_event(reader->schema().path, std::move((*record)->values)));
    if (!bytes)
      return bytes.error();
    result.memory.insert(result.memory.end(), bytes->begin(), bytes->end());
    ends.push_back(result.memory.size());
  }
  std::size_t begin = 0;
  for (const auto end : ends) {
    result.encoded.emplace_back(result.memory.data() + begin, end - begin);
    begin = end;
  }
  if (result.encoded.empty())
    return error{errc::invalid_data, log + ": no record that could be read"};
  result.topic = zeek::log_topic(reader->schema().path);
  for (const auto& each : reader->schema().fields)
    result.columns.push_back({each.name, each.type});
  return result;
}

expected<condition> condition_on(const filter_records& records, const std::string& text) {
  condition_options options;
  options.columns = records.columns;
#ifdef PUBSUB_HAS_REGEX
  options.regex = &make_re2_matcher;
#endif
  return condition::make(text, options);
}

} // namespace pubsub::tool::bench
