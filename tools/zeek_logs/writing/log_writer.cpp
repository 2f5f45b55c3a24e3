// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/writing/log_writer.hpp"

#include "zeek_logs/log_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace pubsub::zeek {

namespace {

using std::chrono::system_clock;

/// `2026-11-27-21-00-00`, local time, as in the names of Zeek's files and in their headers.
std::string stamp(system_clock::time_point when) {
  const auto second = system_clock::to_time_t(when);
  std::tm parts{};
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d-%H-%M-%S",
                                     ::localtime_r(&second, &parts))};
}

} // namespace

std::optional<std::string> file_name_of(std::string_view path) {
  constexpr std::size_t longest = 200; // of 255; the time and the ending come behind
  constexpr std::string_view hex = "0123456789abcdef";
  std::string result;
  for (const char c : path.substr(0, longest + 1)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool stays = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || (c == '.' && !result.empty());
    if (stays)
      result += c;
    else
      (result += '%').append({hex[byte >> 4U], hex[byte & 15U]});
  }
  if (result.empty() || result.size() > longest)
    return {};
  return result;
}

log_writer::time_point next_rotation(log_writer::time_point now, std::chrono::seconds interval) {
  const auto second = system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(now));
  std::tm parts{};
  ::localtime_r(&second, &parts);
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  parts.tm_isdst = -1;
  const auto midnight = std::mktime(&parts);
  const auto past = (second - midnight) / interval.count();
  return system_clock::from_time_t(midnight) + (past + 1) * interval;
}

expected<log_writer> log_writer::open(log_writer_options options, time_point now) {
  auto directory = log_directory::open(options.directory);
  if (!directory)
    return directory.error();
  return log_writer{std::move(options), std::move(*directory), now};
}

log_writer::log_writer(log_writer_options options, log_directory directory, time_point now)
    : options_(std::move(options)),
      directory_(std::make_unique<log_directory>(std::move(directory))), minute_(now) {
  if (options_.rotate.count() > 0)
    next_rotation_ = next_rotation(now, options_.rotate);
}

expected<void> log_writer::write(const read_record& record, time_point now) {
  auto* const to = find_log(record.schema, now);
  if (to == nullptr)
    return {};
  if (to->schema.version != record.schema.version)
    if (auto changed = change_columns(*to, record.schema, now); !changed || !*changed)
      return changed ? expected<void>{} : changed.error();
  if (!fits(*to, record.values))
    return {};
  if (!to->file)
    if (auto begun = begin_file(*to, now); !begun)
      return begun;
  options_.lines->add_record(to->schema, record.values, to->file->pending());
  ++totals_.records;
  return to->file->is_due() ? to->file->flush() : expected<void>{};
}

log_writer::log* log_writer::find_log(const log_schema& schema, time_point now) {
  const auto known = logs_.find(schema.path);
  if (known != logs_.end())
    return &known->second;
  auto name = file_name_of(schema.path);
  if (!name || logs_.size() >= max_logs) {
    ++totals_.bad_logs;
    return nullptr;
  }
  auto& added = logs_[schema.path];
  added.name = std::move(*name);
  added.since = now;
  return &added;
}

/// False where columns change so often that this record is left out.
expected<bool> log_writer::change_columns(log& x, const log_schema& schema, time_point now) {
  if (x.schema.version != 0) {
    if (now < minute_ || now - minute_ >= std::chrono::minutes{1}) {
      minute_ = now;
      changes_ = 0;
    }
    if (changes_ >= max_changes_a_minute) {
      ++totals_.restless;
      return false;
    }
    ++changes_;
    if (auto moved = move_file(x, now); !moved)
      return moved.error();
  }
  x.schema = schema;
  x.types.clear();
  for (const auto& each : x.schema.fields)
    x.types.push_back(parse_column_type(each.type));
  return true;
}

bool log_writer::fits(const log& x, const vector& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!x.types[i] || is_of_type(values[i], *x.types[i]))
      continue;
    if (totals_.misfits++ == 0)
      first_misfit_ = "column " + excerpt(x.schema.fields[i].name) + " of " +
                      excerpt(x.schema.path) + " is " + excerpt(x.schema.fields[i].type) +
                      ", and this is not: " + excerpt(to_string(values[i]));
    return false;
  }
  return true;
}

expected<void> log_writer::begin_file(log& x, time_point now) {
  const auto file = x.name + ".log";
  if (const auto changed = directory_->changed_at(file)) {
    const auto when = system_clock::from_time_t(static_cast<std::time_t>(*changed));
    if (auto moved = directory_->move_away(x.name, stamp(when)); !moved)
      return moved.error();
  }
  auto created = log_file::create(*directory_, file);
  if (!created)
    return created.error();
  x.file = std::move(*created);
  ++totals_.files;
  options_.lines->add_header(x.schema, stamp(now), x.file->pending());
  return {};
}

expected<void> log_writer::end_file(log& x, time_point now) {
  if (!x.file)
    return {};
  expected<void> result;
  if (!x.file->failed()) { // or that was said before
    options_.lines->add_end(stamp(now), x.file->pending());
    result = x.file->flush();
  }
  totals_.lost += x.file->lost();
  x.file.reset();
  return result;
}

expected<void> log_writer::move_file(log& x, time_point now) {
  const bool is_there = x.file.has_value();
  const auto since = std::exchange(x.since, now);
  if (auto ended = end_file(x, now); !ended || !is_there)
    return ended;
  auto moved = directory_->move_away(x.name, stamp(since));
  return moved ? expected<void>{} : moved.error();
}

expected<void> log_writer::for_each_log(const std::function<expected<void>(log&)>& action) {
  expected<void> result;
  for (auto& [path, each] : logs_)
    if (auto done = action(each); !done && result)
      result = std::move(done);
  return result;
}

expected<void> log_writer::tick(time_point now) {
  auto flushed = for_each_log(
      [](log& x) { return x.file && !x.file->failed() ? x.file->flush() : expected<void>{}; });
  if (!flushed || options_.rotate.count() == 0)
    return flushed;
  const bool clock_was_set_back = next_rotation_ - now > options_.rotate;
  const bool is_time = now >= next_rotation_;
  if (is_time || clock_was_set_back)
    next_rotation_ = next_rotation(now, options_.rotate);
  return is_time ? rotate(now) : flushed;
}

expected<void> log_writer::rotate(time_point now) {
  return for_each_log([&](log& x) { return move_file(x, now); });
}

expected<void> log_writer::close(time_point now) {
  return for_each_log(
      [&](log& x) { return options_.rotate.count() > 0 ? move_file(x, now) : end_file(x, now); });
}

log_totals log_writer::totals() const {
  auto result = totals_;
  for (const auto& [path, each] : logs_)
    result.lost += each.file ? each.file->lost() : 0;
  return result;
}

} // namespace pubsub::zeek
