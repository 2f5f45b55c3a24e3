// A program that links pubsub::record and reads what it has written.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include <pubsub/record/reader.hpp>
#include <pubsub/record/writer.hpp>

int main() {
  const auto* const path = "consume_record.mcap";
  std::remove(path);
  auto writer = pubsub::record::writer::open(path);
  if (!writer || !writer->write(pubsub::make_data_message("/t", pubsub::data{42U})) ||
      !writer->close())
    return 1;
  auto reader = pubsub::record::reader::open(path);
  const auto msg = reader ? reader->next() : reader.error();
  std::remove(path);
  return msg && *msg && pubsub::record::value_of(**msg).value_or({}) == pubsub::data{42U} ? 0 : 1;
}
