// SPDX-License-Identifier: BSD-3-Clause
#include "stream/payloads.hpp"

#include "pub_sources.hpp"

#include <utility>

#include <pubsub/data_writer.hpp>

namespace pubsub::tool::bench {

payloads payloads::synthetic(std::size_t size_bytes) {
  std::string text(size_bytes, 'x');
  for (std::size_t i = 0; i < size_bytes; ++i)
    text[i] = static_cast<char>('a' + i % 26);
  data_writer writer;
  writer.write_string(text);
  payloads result;
  result.values_.push_back(writer.take());
  result.size_bytes_ = size_bytes;
  return result;
}

expected<payloads> payloads::from_file(const std::string& file) {
  source_options options;
  (file.ends_with(".jsonl") ? options.zeek_events : options.zeek_log) = file;
  auto source = open_source(options);
  if (!source)
    return source.error();
  payloads result;
  std::size_t total = 0;
  for (;;) {
    auto message = (*source)->next();
    if (!message) {
      ++result.skipped_;
      continue;
    }
    if (!*message)
      break;
    if ((*message)->what == outgoing::kind::schema)
      continue;
    data_writer writer;
    writer.write((*message)->value);
    total += writer.size_bytes();
    result.values_.push_back(writer.take());
  }
  if (result.values_.empty())
    return error{errc::invalid_data, file + ": no record that could be read"};
  result.size_bytes_ = total / result.values_.size();
  return result;
}

} // namespace pubsub::tool::bench
