// SPDX-License-Identifier: BSD-3-Clause
#include "bridges/bridge_options.hpp"

#include "connection.hpp"
#include "manual/command_text.hpp"
#include "recording/moments.hpp"

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

void add_kafka(CLI::App& command, bridge_options& to) {
  command.add_option("--brokers", to.kafka.brokers, "Where the brokers are, separated by commas")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command
      .add_option(
          "--set", to.settings,
          "Any property of librdkafka, such as compression.type=zstd, security.protocol=SSL "
          "or sasl.mechanism=SCRAM-SHA-512 (repeatable)")
      ->type_name("NAME=VALUE");
  command
      .add_option(
          "--transactional-id", to.kafka.transactional_id,
          "Write the tasks of a pipeline in transactions under this id: readers of committed "
          "records see each once, also when this ends and starts again")
      ->type_name("ID");
  command
      .add_option("--positions", to.kafka.positions,
                  "With transactions: the topic that keeps how far they have come")
      ->type_name("TOPIC")
      ->capture_default_str();
}

void add_jetstream(CLI::App& command, bridge_options& to) {
  auto& x = to.jetstream;
  command.add_option("--url", x.url, "Where the servers are, separated by commas; tls:// encrypts")
      ->capture_default_str();
  command.add_option("--stream", x.stream, "The stream to read, or to make sure of")
      ->type_name("NAME");
  command
      .add_option("--subjects", x.subjects,
                  "Make the stream where it is missing, for these subjects, such as 'zeek.>'")
      ->type_name("SUBJECTS");
  command.add_option("--credentials", x.credentials, "A file of credentials")->type_name("FILE");
  command.add_option("--server-ca", x.ca, "For tls://: whom to trust (PEM)")->type_name("FILE");
  command.add_option("--client-certificate", x.certificate, "For tls://: as whom to appear (PEM)")
      ->type_name("FILE");
  command.add_option("--client-key", x.key, "Its key (PEM)")->type_name("FILE");
}

void add_redis(CLI::App& command, bridge_options& to) {
  command
      .add_option("--url", to.redis.url,
                  "redis://[[USER]:PASSWORD@]HOST:PORT[/DATABASE] or unix:///PATH")
      ->capture_default_str();
  command
      .add_option("--max-length", to.redis.max_length,
                  "Keep about so many entries of a stream; 0: all")
      ->type_name(number_name)
      ->capture_default_str();
  command.add_option("--field", to.redis.field, "The field of an entry that holds the value")
      ->type_name("NAME")
      ->capture_default_str();
  allow_only(command.add_option("--list", to.list,
                                "Names are those of lists, and not of streams, which writers push "
                                "to by RPUSH (Logstash) or by LPUSH (Suricata's mode: list)"),
             {"rpush", "lpush"});
}

void add_to_engine(CLI::App& command, bridge_options& to) {
  command
      .add_option("--topic", to.topics, "To the engine: messages on this topic prefix (repeatable)")
      ->type_name("PREFIX");
  command
      .add_option("--to", to.sink.to,
                  "Where records go: {topic} (with . for /), {path} of a log's record, {event}")
      ->type_name("NAME")
      ->capture_default_str();
  if (to.engine != "jetstream")
    command
        .add_option("--key-by", to.sink.key,
                    "The key of a record: origin (publisher and topic, which keeps their order), "
                    "topic, field:COLUMN, community_id, none")
        ->capture_default_str();
  command.add_flag("--no-headers", to.no_headers,
                   "Write values only, and not where they come from");
  add_where_options(command, to.where);
  add_queue_options(command, to.sink.queue, "--policy", "--queue", "the queue before the engine");
}

void add_from_engine(CLI::App& command, bridge_options& to) {
  command
      .add_option("--from", to.source.from,
                  "From the engine: what to read, a topic, subject, stream or list (repeatable)")
      ->type_name("NAME");
  command
      .add_option("--group", to.source.group,
                  "The group (of JetStream: durable consumer) that the engine keeps the position "
                  "of; without it all is read, and nothing kept")
      ->type_name("NAME");
  command
      .add_option(
          "--start", to.start,
          "stored, beginning, end, time:2026-11-28T01:00:00Z or offset:N; stored if there is "
          "a group, beginning otherwise")
      ->type_name("WHERE");
  command
      .add_option(
          "--publish", to.source.publish,
          "The topic to publish on: {origin-topic} of the message that it was, {topic} that "
          "it is kept under, {key}")
      ->type_name("TOPIC")
      ->capture_default_str();
  command.add_option("--rate", to.source.rate, "At most so many records a second; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_flag("--until-end", to.source.until_end, "End when all that is kept was passed on");
  command.add_flag("--returned", to.source.returned,
                   "Bring back also what was written by a bridge from this network: to replay it");
  add_length_option(command, "--commit-interval", to.commit_interval,
                    "How often the engine is told what is done", std::chrono::milliseconds{10});
}

expected<void> read_settings(const std::vector<std::string>& from, bridge::kafka& to) {
  for (const auto& each : from) {
    const auto equals = each.find('=');
    if (equals == 0 || equals == std::string::npos)
      return error{errc::invalid_argument, fmt::format("--set {}: NAME=VALUE is expected", each)};
    to.settings.insert_or_assign(each.substr(0, equals), each.substr(equals + 1));
  }
  return {};
}

bridge::payload_format format_of(const std::string& name) {
  using bridge::payload_format;
  return name == "zeek-json"    ? payload_format::zeek_json
         : name == "json"       ? payload_format::json
         : name == "binary"     ? payload_format::binary
         : name == "avro"       ? payload_format::avro
         : name == "plain-json" ? payload_format::plain_json
                                : payload_format::string;
}

expected<bridge::source_options> source_of(const bridge_options& options) {
  auto result = options.source;
  result.pipeline = options.pipeline;
  result.network = options.network;
  result.dead_letters = options.dead_letters;
  result.commit_interval = options.commit_interval;
  if (!options.format.empty())
    result.format = format_of(options.format);
  const auto usual = options.source.group.empty() ? "beginning" : "stored";
  auto start = bridge::parse_start(options.start.empty() ? usual : options.start);
  if (!start)
    return start.error();
  result.start = std::move(*start);
  return result;
}

expected<bridge::sink_options> sink_of(const bridge_options& options) {
  auto result = options.sink;
  auto where = options.where.read();
  if (!where)
    return where.error();
  result.where = std::move(*where);
  result.topics = filter{options.topics};
  result.pipeline = options.pipeline;
  result.network = options.network;
  result.dead_letters = options.dead_letters;
  result.headers = !options.no_headers;
  if (!options.format.empty())
    result.format = format_of(options.format);
  return result;
}

} // namespace

void add_bridge_options(CLI::App& command, bridge_options& options) {
  if (options.engine == "kafka")
    add_kafka(command, options);
  else if (options.engine == "jetstream")
    add_jetstream(command, options);
  else
    add_redis(command, options);
  add_to_engine(command, options);
  add_from_engine(command, options);
  command
      .add_option(
          "--pipeline", options.pipeline,
          "Take the tasks of the exchange of this name, and acknowledge them once the engine "
          "has them; with --from: make a task of each record")
      ->type_name("NAME");
  allow_only(
      command.add_option(
          "--format", options.format,
          "How values are written: zeek-json (records, as Zeek's JSON writer has them), json "
          "and binary (any value, with types), avro (records; pubsub bridge ddl avro). Read: "
          "these, plain-json and string; what the "
          "record says if nothing is given, and plain-json where that says nothing"),
      {"zeek-json", "json", "binary", "avro", "plain-json", "string"});
  command
      .add_option("--dead-letters", options.dead_letters,
                  "Where what cannot be passed on is kept; with --from a topic of the network")
      ->type_name("NAME");
  command
      .add_option("--network", options.network,
                  "A name of this network: what was written under it is not brought back to it")
      ->capture_default_str();
}

expected<bridge_plan> plan_of(const bridge_options& options) {
  bridge_plan result;
  if (options.engine == "kafka") {
    auto engine = options.kafka;
    if (auto ok = read_settings(options.settings, engine); !ok)
      return ok.error();
    result.engine = std::move(engine);
  } else if (options.engine == "jetstream") {
    result.engine = options.jetstream;
  } else {
    auto engine = options.redis;
    engine.list = options.list == "rpush"   ? bridge::redis_list::rpush
                  : options.list == "lpush" ? bridge::redis_list::lpush
                                            : bridge::redis_list::none;
    result.engine = std::move(engine);
  }
  if (options.is_source()) {
    auto source = source_of(options);
    if (!source)
      return source.error();
    if (!options.topics.empty())
      return error{errc::invalid_argument, "--topic is for what goes to the engine, and --from for "
                                           "what comes from it: a bridge does one of the two"};
    if (auto ok = check(*source, result.engine); !ok)
      return ok.error();
    result.what = std::move(*source);
    return result;
  }
  auto sink = sink_of(options);
  if (!sink)
    return sink.error();
  if (options.topics.empty() && options.pipeline.empty())
    return error{errc::invalid_argument,
                 "bridge needs --topic or --pipeline (to the engine), or --from (from it)"};
  if (auto ok = check(*sink, result.engine); !ok)
    return ok.error();
  result.what = std::move(*sink);
  return result;
}

} // namespace pubsub::tool
