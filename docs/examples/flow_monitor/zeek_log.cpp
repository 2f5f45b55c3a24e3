#include "zeek_log.hpp"

#include "record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <type_traits>
#include <variant>

namespace flow_monitor {
namespace {

constexpr std::string_view unset_field = "-";
constexpr std::string_view empty_field = "(empty)";

// Seconds with six decimals, as Zeek writes them; what is below a microsecond is cut off.
std::string seconds(pubsub::timespan span) {
  const auto total = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
  const auto magnitude =
      total < 0 ? 0 - static_cast<std::uint64_t>(total) : static_cast<std::uint64_t>(total);
  return fmt::format("{}{}.{:06}", total < 0 ? "-" : "", magnitude / 1'000'000,
                     magnitude % 1'000'000);
}

std::string log_time(pubsub::timestamp at) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(at);
  return fmt::format("{:%Y-%m-%d-%H-%M-%S}", fmt::gmtime(whole.time_since_epoch().count()));
}

std::string field(const pubsub::data& value, bool is_element);

template <class Container>
std::string joined(const Container& elements) {
  if (elements.empty())
    return std::string{empty_field};
  std::string result;
  for (const auto& element : elements) {
    if (&element != &*elements.begin())
      result.push_back(',');
    result += field(element, true);
  }
  return result;
}

struct field_writer {
  bool is_element;

  std::string operator()(pubsub::none) const { return std::string{unset_field}; }
  std::string operator()(bool x) const { return x ? "T" : "F"; }
  std::string operator()(std::uint64_t x) const { return std::to_string(x); }
  std::string operator()(std::int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return fmt::format("{}", x); }
  std::string operator()(const std::string& x) const { return escape(x, is_element); }
  std::string operator()(const pubsub::enum_value& x) const { return escape(x.name(), is_element); }
  std::string operator()(pubsub::timestamp x) const { return seconds(x.time_since_epoch()); }
  std::string operator()(pubsub::timespan x) const { return seconds(x); }
  std::string operator()(const pubsub::port& x) const { return std::to_string(x.number()); }
  std::string operator()(const pubsub::address& x) const { return pubsub::to_string(x); }
  std::string operator()(const pubsub::subnet& x) const { return pubsub::to_string(x); }
  std::string operator()(const pubsub::set& x) const { return joined(x); }
  std::string operator()(const pubsub::vector& x) const { return joined(x); }
  // No column of ours is a table, and the format has no way to write one.
  std::string operator()(const pubsub::table&) const { return std::string{unset_field}; }
};

std::string field(const pubsub::data& value, bool is_element) {
  return std::visit(field_writer{is_element}, value.variant());
}

std::string header(pubsub::timestamp now) {
  std::string names = "#fields";
  std::string types = "#types";
  for (const auto& [name, type] : columns()) {
    names += fmt::format("\t{}", name);
    types += fmt::format("\t{}", type);
  }
  return fmt::format("#separator \\x09\n#set_separator\t,\n#empty_field\t{}\n#unset_field\t{}\n"
                     "#path\tconn\n#open\t{}\n{}\n{}\n",
                     empty_field, unset_field, log_time(now), names, types);
}

} // namespace

std::string escape(std::string_view text, bool is_element) {
  if (text.empty())
    return std::string{empty_field};
  const bool is_misleading = text == unset_field || text == empty_field;
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '\\';
    if (is_plain && !(is_element && byte == ',') && !(is_misleading && i == 0))
      result.push_back(text[i]);
    else
      result += fmt::format("\\x{:02x}", byte);
  }
  return result;
}

std::string to_field(const pubsub::data& value) {
  return field(value, false);
}

std::string to_line(const pubsub::vector& values) {
  std::string line;
  for (const auto& value : values) {
    if (!line.empty())
      line.push_back('\t');
    line += to_field(value);
  }
  return line;
}

pubsub::expected<zeek_log> zeek_log::open(const std::string& path, pubsub::timestamp now) {
  zeek_log log{std::ofstream{path, std::ios::binary | std::ios::trunc}, path};
  if (log.file_)
    log.file_ << header(now);
  if (const auto ok = log.check(); !ok)
    return ok.error();
  return log;
}

pubsub::expected<void> zeek_log::check() {
  if (file_)
    return {};
  return pubsub::error{pubsub::errc::cannot_write_file,
                       fmt::format("{}: {}", path_, std::strerror(errno))};
}

pubsub::expected<void> zeek_log::write(const pubsub::vector& values) {
  file_ << to_line(values) << '\n';
  return check();
}

pubsub::expected<void> zeek_log::close(pubsub::timestamp now) {
  file_ << "#close\t" << log_time(now) << '\n';
  file_.close();
  return check();
}

} // namespace flow_monitor
