// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/log_reader.hpp"

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

} // namespace pubsub::zeek
