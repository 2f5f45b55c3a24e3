#include <pubsub/zeek/log.hpp>

#include <utility>

namespace pubsub::zeek {

expected<log_reader> log_reader::open(std::string file, const log_options& options) {
  auto lines = line_reader::open(std::move(file), options.mode);
  if (!lines)
    return lines.error();
  return log_reader{std::move(*lines), options};
}

log_reader::log_reader(line_reader lines, const log_options& options)
    : lines_(std::move(lines)), options_(options) {}

expected<std::optional<log_record>> log_reader::next() {
  for (;;) {
    auto line = lines_.next();
    if (!line)
      return line.error();
    if (!*line)
      return std::optional<log_record>{};
    auto where = [&] { return lines_.file() + ":" + std::to_string(lines_.line()) + ": "; };
    if (!parser_ && !(*line)->empty()) {
      bool json = (*line)->front() == '{';
      if (json && !options_.json_parser)
        return error{errc::not_supported, where() + "JSON logs need the component pubsub::json"};
      auto path = lines_.fd() == 0 ? "stdin" : log_path_of(lines_.file());
      parser_ = json ? options_.json_parser(std::move(path)) : make_tsv_log_parser(std::move(path));
    }
    if (!parser_)
      continue;
    auto values = parser_->parse(**line);
    if (!values)
      return error{values.error().code(), where() + values.error().context()};
    if (*values)
      return std::optional{log_record{lines_.line(), std::move(**values)}};
  }
}

const log_schema& log_reader::schema() const noexcept {
  static const log_schema unknown;
  return parser_ ? parser_->schema() : unknown;
}

std::string log_path_of(std::string_view file) {
  auto name = file.substr(file.rfind('/') + 1);
  return std::string{name.substr(0, name.find('.'))};
}

std::string log_topic(std::string_view path) {
  return "zeek/records/" + std::string{path};
}

namespace {

// The envelope of every Zeek event: version 1, type 1 (event), content.
data in_envelope(std::string name, vector args) {
  constexpr count version = 1;
  constexpr count event_type = 1;
  vector content;
  content.emplace_back(std::move(name));
  content.emplace_back(std::move(args));
  return vector{data{version}, data{event_type}, data{std::move(content)}};
}

} // namespace

data make_log_event(std::string_view path, vector values) {
  vector args;
  args.emplace_back(std::move(values));
  return in_envelope("log_" + std::string{path}, std::move(args));
}

data make_log_fields_event(const log_schema& schema) {
  vector fields;
  fields.reserve(schema.fields.size());
  for (const auto& field : schema.fields)
    fields.emplace_back(vector{data{field.name}, data{field.type}});
  vector args;
  args.emplace_back(schema.path);
  args.emplace_back(std::move(fields));
  return in_envelope("log_fields", std::move(args));
}

} // namespace pubsub::zeek
