// SPDX-License-Identifier: BSD-3-Clause
#include "message_output.hpp"

#include "terminal.hpp"
#include "zeek_logs/record_lines.hpp"
#include <pubsub/zeek/record_reader.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <pubsub/format.hpp>

namespace pubsub::tool {

namespace {

/// Any message, a line each.
class message_lines final : public message_output {
public:
  explicit message_lines(bool as_text) : as_text_(as_text) {}

  expected<bool> add(const data_message& msg) override {
    output_.add(as_text_ ? to_string(msg) : to_json(get_topic(msg), get_view(msg)));
    return true;
  }
  bool flush() override { return output_.flush(); }

private:
  const bool as_text_;
  line_output output_;
};

/// Counts records, and complains of what else has come.
class record_output : public message_output {
public:
  exit_code end() override {
    if (reader_.unknown() > 0)
      complain(fmt::format("{} records came before the columns of their log", reader_.unknown()));
    if (reader_.others() > 0)
      complain(fmt::format("{} messages were no records of logs", reader_.others()));
    return exit_code::ok;
  }

protected:
  std::optional<zeek::read_record> read(const data_message& msg) {
    return reader_.read(get_data(msg));
  }
  /// Hands over what is pending.
  bool write_to(std::FILE* file) {
    const bool written = std::fwrite(pending_.data(), 1, pending_.size(), file) == pending_.size();
    pending_.clear();
    return written && std::fflush(file) == 0;
  }

  std::string pending_;

private:
  zeek::record_reader reader_;
};

class record_line_output final : public record_output {
public:
  explicit record_line_output(zeek::line_format format) : lines_(format) {}

  expected<bool> add(const data_message& msg) override {
    const auto record = read(msg);
    if (!record)
      return false;
    if (auto added = lines_.add(*record, pending_); !added)
      return added.error();
    return true;
  }
  bool flush() override { return write_to(stdout); }

private:
  zeek::record_lines lines_;
};

/// A program in Python gets the messages, as libpubsub/_table_file.py reads them, and writes a
/// file.
class table_output final : public record_output {
public:
  explicit table_output(std::FILE* pipe) : pipe_(pipe) {}
  ~table_output() override { close(); }
  table_output(const table_output&) = delete;
  table_output& operator=(const table_output&) = delete;

  expected<bool> add(const data_message& msg) override {
    const auto topic = std::string_view{get_topic(msg)};
    const auto value = get_view(msg).bytes();
    const auto record = read(msg);
    if (record) {
      if (!first_)
        first_ = record->schema;
      if (auto same = zeek::check_same_table(*first_, record->schema); !same)
        return same.error();
    }
    add_size(topic.size());
    add_size(value.size());
    pending_ += topic;
    pending_.append(reinterpret_cast<const char*>(value.data()), value.size());
    return record.has_value();
  }
  bool flush() override { return write_to(pipe_); }
  exit_code end() override {
    record_output::end();
    return close() == 0 ? exit_code::ok : exit_code::usage;
  }

private:
  /// Waits until the file is complete.
  int close() { return pipe_ == nullptr ? 0 : ::pclose(std::exchange(pipe_, nullptr)); }

  void add_size(std::size_t size) {
    for (int shift = 0; shift < 32; shift += 8)
      pending_ += static_cast<char>((size >> shift) & 0xff);
  }

  std::FILE* pipe_;
  std::optional<zeek::log_schema> first_;
};

/// Names are handed over in the environment, where a shell does not read them.
expected<std::unique_ptr<message_output>> open_table(const char* form, const std::string& file) {
  ::setenv("PUBSUB_PYTHON", "python3", 0);
  ::setenv("PUBSUB_OUTPUT", file.c_str(), 1);
  const auto command =
      fmt::format("exec \"$PUBSUB_PYTHON\" -m libpubsub._table_file {} \"$PUBSUB_OUTPUT\"", form);
  auto* const pipe = ::popen(command.c_str(), "w");
  if (pipe == nullptr)
    return error{errc::limit_exceeded, "python3 cannot be started"};
  return std::unique_ptr<message_output>{std::make_unique<table_output>(pipe)};
}

} // namespace

expected<std::unique_ptr<message_output>> open_output(output_format format,
                                                      const std::string& file) {
  using made = std::unique_ptr<message_output>;
  switch (format) {
  case output_format::json:
  case output_format::text:
    return made{std::make_unique<message_lines>(format == output_format::text)};
  case output_format::csv:
    return made{std::make_unique<record_line_output>(zeek::line_format::csv)};
  case output_format::zeek_tsv:
    return made{std::make_unique<record_line_output>(zeek::line_format::tsv)};
  case output_format::arrow:
    return open_table("arrow", file);
  case output_format::parquet:
    break;
  }
  return open_table("parquet", file);
}

} // namespace pubsub::tool
