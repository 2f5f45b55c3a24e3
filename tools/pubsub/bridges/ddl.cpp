// SPDX-License-Identifier: BSD-3-Clause
#include "bridges/ddl.hpp"

#include "terminal.hpp"
#include "zeek_logs/log_reader.hpp"

#include <functional>
#include <memory>
#include <string>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <pubsub/bridge/avro.hpp>
#include <pubsub/bridge/clickhouse.hpp>

namespace pubsub::tool {

namespace {

struct ddl_options {
  std::string log;
  bridge::clickhouse_options tables;
};

/// The columns, as the header of the log names them.
expected<zeek::log_schema> schema_of(const std::string& file) {
  auto reader = zeek::log_reader::open(file);
  if (!reader)
    return reader.error();
  while (reader->schema().version == 0) {
    auto record = reader->next();
    if (!record)
      return record.error();
    if (!*record)
      break;
  }
  if (reader->schema().fields.empty())
    return error{errc::invalid_data, file + ": no header that names columns and their types"};
  return reader->schema();
}

exit_code print(const std::string& log,
                const std::function<expected<std::string>(const zeek::log_schema&)>& make) {
  const auto schema = schema_of(log);
  if (!schema)
    return fail(schema.error());
  const auto text = make(*schema);
  if (!text)
    return fail(text.error());
  line_output out;
  out.add(*text);
  return out.flush() ? exit_code::ok : exit_code::loss;
}

constexpr const char* ddl_examples = R"(Examples:
  pubsub bridge ddl clickhouse conn.log | clickhouse-client --multiquery
      a table zeek.conn with a column for each of the log's
  pubsub bridge ddl clickhouse conn.log --brokers k1:9092 --kafka-topic zeek.conn
      also what reads the topic to which "pubsub bridge kafka --to 'zeek.{path}'" writes records
The log is one of Zeek's in TSV, whose header names the columns and their types; records may be
missing. Unset columns are NULL; sets and vectors are arrays.)";

constexpr const char* avro_examples = R"(Examples:
  pubsub bridge ddl avro conn.log > conn.avsc
      for readers of what "pubsub bridge kafka --format avro" writes: single objects, each of which
      begins with C3 01 and the fingerprint of this schema)";

void add_clickhouse(CLI::App& ddl, exit_code& outcome) {
  auto options = std::make_shared<ddl_options>();
  auto* const clickhouse =
      ddl.add_subcommand("clickhouse", "Tables of ClickHouse, and what reads Kafka into them");
  clickhouse->add_option("log", options->log, "A log of Zeek's, in TSV")
      ->type_name("FILE")
      ->required();
  clickhouse->add_option("--database", options->tables.database, "The database")
      ->type_name("NAME")
      ->capture_default_str();
  clickhouse->add_option("--table", options->tables.table, "The table; the log's path if not given")
      ->type_name("NAME");
  clickhouse->add_option("--brokers", options->tables.brokers, "Kafka's brokers, for ClickHouse")
      ->type_name("HOST:PORT");
  clickhouse
      ->add_option("--kafka-topic", options->tables.topic,
                   "The topic of the records; DATABASE.TABLE if not given")
      ->type_name("NAME");
  clickhouse->add_option("--group", options->tables.group, "The group as which it reads the topic")
      ->type_name("NAME")
      ->capture_default_str();
  clickhouse->footer(ddl_examples);
  clickhouse->callback([options, &outcome] {
    outcome = print(options->log, [&](const zeek::log_schema& schema) {
      return bridge::clickhouse_ddl(schema, options->tables);
    });
  });
}

void add_avro(CLI::App& ddl, exit_code& outcome) {
  auto log = std::make_shared<std::string>();
  auto* const command =
      ddl.add_subcommand("avro", "The schema of records that --format avro writes");
  command->add_option("log", *log, "A log of Zeek's, in TSV")->type_name("FILE")->required();
  command->footer(avro_examples);
  command->callback([log, &outcome] { outcome = print(*log, bridge::avro_schema); });
}

} // namespace

void add_ddl(CLI::App& bridge, exit_code& outcome) {
  auto* const command =
      bridge.add_subcommand("ddl", "Print tables or schemas for the records of a log");
  command->require_subcommand(1);
  add_clickhouse(*command, outcome);
  add_avro(*command, outcome);
}

} // namespace pubsub::tool
