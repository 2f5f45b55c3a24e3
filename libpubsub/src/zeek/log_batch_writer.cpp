// Writing batches of log records.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/log_batch.hpp>

#include "base/byte_writer.hpp"
#include "zeek/type_tag.hpp"

#include <bit>
#include <limits>
#include <utility>

namespace pubsub::zeek {

namespace {

/// The numbers of a type of a column, e.g. of `set[addr]`.
struct column_type {
  type_tag type = type_tag::nothing;
  type_tag subtype = type_tag::nothing; ///< of the members; `nothing` where it is no container
};

std::optional<column_type> column_type_named(std::string_view name) {
  if (const auto tag = tag_named(name); tag && can_be_logged(*tag))
    return column_type{*tag, type_tag::nothing};
  for (const auto& [prefix, tag] : {std::pair{std::string_view{"set["}, type_tag::table},
                                    std::pair{std::string_view{"vector["}, type_tag::vector}}) {
    if (!name.starts_with(prefix) || !name.ends_with(']'))
      continue;
    const auto member = tag_named(name.substr(prefix.size(), name.size() - prefix.size() - 1));
    if (member && can_be_logged(*member))
      return column_type{tag, *member};
  }
  return {};
}

std::uint64_t bits_of_seconds(timespan x) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const auto whole = x.count() / second;
  const auto rest = x.count() % second;
  return std::bit_cast<std::uint64_t>(static_cast<double>(whole) + static_cast<double>(rest) / 1e9);
}

/// Writes values in the types that their columns say; false where a value has another one.
class log_value_writer {
public:
  bool value(const data& x, column_type type) {
    out_.add(static_cast<std::int32_t>(type.type)).add(static_cast<std::int32_t>(type.subtype));
    const bool present = !x.is<none>();
    out_.add(static_cast<std::uint8_t>(present ? 1 : 0));
    return !present || body(x, type);
  }

  /// False if it is too long.
  bool text(std::string_view x) {
    if (x.size() > std::numeric_limits<std::int32_t>::max())
      return false;
    out_.add(static_cast<std::int32_t>(x.size())).add_bytes(std::as_bytes(std::span{x}));
    return true;
  }

  byte_writer& out() noexcept { return out_; }

private:
  bool body(const data& x, column_type type) {
    switch (type.type) {
    case type_tag::boolean:
      return put<boolean>(x, [this](boolean y) { out_.add(std::int64_t{y ? 1 : 0}); });
    case type_tag::integer:
      return put<integer>(x, [this](integer y) { out_.add(y); });
    case type_tag::count:
      return put<count>(x, [this](count y) { out_.add(y); });
    case type_tag::real:
      return put<real>(x, [this](real y) { out_.add(std::bit_cast<std::uint64_t>(y)); });
    case type_tag::time:
      return put<timestamp>(
          x, [this](timestamp y) { out_.add(bits_of_seconds(y.time_since_epoch())); });
    case type_tag::interval:
      return put<timespan>(x, [this](timespan y) { out_.add(bits_of_seconds(y)); });
    case type_tag::enumeration:
      return x.is<enum_value>() && text(x.get<enum_value>().name());
    case type_tag::string:
    case type_tag::file:
    case type_tag::func:
      return x.is<std::string>() && text(x.get<std::string>());
    case type_tag::port:
      return put<port>(x, [this](const port& y) {
        out_.add(std::uint64_t{y.number()}).add(static_cast<std::int32_t>(y.protocol()));
      });
    case type_tag::address:
      return put<address>(x, [this](const address& y) { put_address(y); });
    case type_tag::subnet:
      return put<subnet>(x, [this](const subnet& y) {
        out_.add(y.raw_length());
        put_address(y.network());
      });
    case type_tag::table:
      return x.is<set>() && members(x.get<set>(), type.subtype);
    default: // of those that can be logged
      return x.is<vector>() && members(x.get<vector>(), type.subtype);
    }
  }

  template <class T, class Put>
  bool put(const data& x, Put what) {
    if (const auto* y = x.get_if<T>())
      what(*y);
    return x.is<T>();
  }

  void put_address(const address& x) {
    const auto bytes = std::as_bytes(std::span{x.bytes()});
    out_.add(static_cast<std::uint8_t>(x.is_v4() ? 4 : 6));
    out_.add_bytes(x.is_v4() ? bytes.subspan(12) : bytes);
  }

  template <class Members>
  bool members(const Members& all, type_tag type) {
    out_.add(static_cast<std::int64_t>(all.size()));
    return std::ranges::all_of(all, [&](const auto& each) {
      return value(each, {type, type_tag::nothing});
    });
  }

  byte_writer out_;
};

error bad_column(std::size_t column, const log_column& what, errc code, const std::string& why) {
  return {code, "column " + std::to_string(column) + " (" + what.name + "): " + why};
}

} // namespace

expected<std::vector<std::byte>> encode_log_batch(const log_batch& batch) {
  log_value_writer writer;
  auto& out = writer.out();
  for (const auto* name : {&batch.stream, &batch.writer, &batch.filter, &batch.path})
    if (!writer.text(*name))
      return error{errc::invalid_argument, "a name of a log is too long"};
  out.add(static_cast<std::uint32_t>(batch.columns.size()));
  std::vector<column_type> types;
  for (const auto& column : batch.columns) {
    const auto type = column_type_named(column.type);
    if (!type)
      return bad_column(types.size(), column, errc::invalid_argument,
                        "logs cannot hold the type " + column.type);
    types.push_back(*type);
    const auto& second = column.secondary_name;
    out.add(static_cast<std::uint8_t>(second ? 1 : 0));
    if ((second && !writer.text(*second)) || !writer.text(column.name))
      return error{errc::invalid_argument, "a name of a column is too long"};
    out.add(static_cast<std::int32_t>(type->type)).add(static_cast<std::int32_t>(type->subtype));
    out.add(static_cast<std::uint8_t>(column.optional ? 1 : 0));
  }
  out.add(static_cast<std::uint32_t>(batch.records.size()));
  for (const auto& record : batch.records) {
    if (record.size() != types.size() || record.empty())
      return error{errc::invalid_argument, "a record of " + std::to_string(record.size()) +
                                               " values, and there are " +
                                               std::to_string(types.size()) + " columns"};
    for (std::size_t i = 0; i < types.size(); ++i)
      if (!writer.value(record[i], types[i]))
        return bad_column(i, batch.columns[i], errc::type_clash,
                          "a value is no " + batch.columns[i].type);
  }
  return out.take();
}

} // namespace pubsub::zeek
