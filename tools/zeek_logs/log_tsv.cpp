// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/log_reader.hpp"

#include "zeek_logs/log_column.hpp"
#include "zeek_logs/log_text.hpp"

#include <span>
#include <utility>

namespace pubsub::zeek {

namespace {

using field_list = std::vector<std::string_view>;

void split(std::string_view line, std::string_view separator, field_list& out) {
  out.clear();
  for (;;) {
    auto end = line.find(separator);
    out.push_back(line.substr(0, end));
    if (end == std::string_view::npos)
      return;
    line.remove_prefix(end + separator.size());
  }
}

error bad(std::string text) {
  return {errc::invalid_data, std::move(text)};
}

// A header counts only once its #fields and #types lines agree; until then records are refused.
class tsv_parser final : public log_parser {
public:
  explicit tsv_parser(std::string path) { schema_.path = std::move(path); }

  expected<std::optional<vector>> parse(std::string_view line) override {
    if (line.empty())
      return std::optional<vector>{};
    if (line.front() == '#') {
      if (auto done = parse_header(line); !done)
        return done.error();
      return std::optional<vector>{};
    }
    return parse_record(line);
  }

private:
  expected<void> parse_header(std::string_view line) {
    constexpr std::string_view separator_key = "#separator ";
    if (line.starts_with(separator_key))
      return start_header(line.substr(separator_key.size()));
    split(line, notation_.separator, fields_);
    auto key = fields_[0];
    if (key == "#fields")
      return take_names();
    if (key == "#types")
      return take_types();
    std::string* target = key == "#set_separator" ? &notation_.set_separator
                          : key == "#empty_field" ? &notation_.empty_field
                          : key == "#unset_field" ? &notation_.unset_field
                          : key == "#path"        ? &schema_.path
                                                  : nullptr;
    if (!target)
      return {}; // #open, #close, comments
    if (fields_.size() != 2 || (target != &schema_.path && fields_[1].empty()))
      return bad("header line " + excerpt(key) + " needs one value");
    *target = unescape(fields_[1]);
    if (target == &schema_.path)
      ++schema_.version;
    return {};
  }

  expected<void> start_header(std::string_view value) {
    auto separator = unescape(value);
    if (separator.empty())
      return bad("#separator needs a value");
    notation_ = {};
    notation_.separator = std::move(separator);
    ready_ = false;
    return {};
  }

  expected<void> take_names() {
    ready_ = false;
    schema_.fields.clear();
    for (auto name : std::span{fields_}.subspan(1))
      schema_.fields.push_back({std::string{name}, {}});
    if (schema_.fields.empty())
      return bad("#fields names no column");
    return {};
  }

  expected<void> take_types() {
    ready_ = false;
    if (fields_.size() - 1 != schema_.fields.size())
      return bad("#types has " + std::to_string(fields_.size() - 1) + " entries for " +
                 std::to_string(schema_.fields.size()) + " columns in #fields");
    types_.clear();
    protocol_column_ = schema_.fields.size();
    std::string unknown;
    for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
      auto& field = schema_.fields[i];
      field.type = fields_[i + 1];
      auto type = parse_column_type(field.type);
      if (!type && unknown.empty())
        unknown = "column " + excerpt(field.name) + " has unknown type " + excerpt(field.type) +
                  " and is read as string";
      types_.push_back(type.value_or(column_type{}));
      if (field.name == "proto")
        protocol_column_ = i;
    }
    ready_ = true;
    ++schema_.version;
    if (!unknown.empty())
      return bad(std::move(unknown));
    return {};
  }

  expected<std::optional<vector>> parse_record(std::string_view line) {
    if (!ready_)
      return bad("a record without valid #fields and #types lines before it");
    split(line, notation_.separator, fields_);
    if (fields_.size() != types_.size())
      return bad("the record has " + std::to_string(fields_.size()) + " columns, the header " +
                 std::to_string(types_.size()));
    auto protocol = protocol_column_ < fields_.size() ? parse_transport(fields_[protocol_column_])
                                                      : transport::unknown;
    vector values;
    values.reserve(types_.size());
    for (std::size_t i = 0; i < types_.size(); ++i) {
      auto value = parse_column(fields_[i], types_[i], notation_, protocol);
      if (!value)
        return bad("column " + excerpt(schema_.fields[i].name) + ": " + excerpt(fields_[i]) +
                   " is not of type " + schema_.fields[i].type);
      values.push_back(std::move(*value));
    }
    return std::optional{std::move(values)};
  }

  log_notation notation_;
  std::vector<column_type> types_;
  std::size_t protocol_column_ = 0;
  bool ready_ = false; // names and types fit together
  field_list fields_;  // of the line at hand; kept for its memory
};

} // namespace

std::unique_ptr<log_parser> make_tsv_log_parser(std::string path) {
  return std::make_unique<tsv_parser>(std::move(path));
}

} // namespace pubsub::zeek
