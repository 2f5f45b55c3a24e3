// The fields of a message that is a vector.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/sequence_ranges.hpp"

namespace pubsub::pattern {

/// Reads fields one after the other; false once one is not what it should be.
class field_reader {
public:
  explicit field_reader(const data_view& value) {
    if (value.type() == data_type::vector)
      next_ = value.elements().begin();
  }

  bool read(std::uint64_t& out) {
    return take(data_type::count, [&](const auto& x) { out = x.as_count(); });
  }
  bool read(bool& out) {
    return take(data_type::boolean, [&](const auto& x) { out = x.as_boolean(); });
  }
  bool read(std::string& out) {
    return take(data_type::string, [&](const auto& x) { out = x.as_string(); });
  }
  bool read(data_view& out) {
    return take(data_type::vector, [&](const auto& x) { out = x; });
  }
  bool read(endpoint_id& out) {
    std::string_view text;
    endpoint_id::bytes_type bytes{};
    if (!take(data_type::string, [&](const auto& x) { text = x.as_string(); }) ||
        text.size() != bytes.size())
      return false;
    std::memcpy(bytes.data(), text.data(), bytes.size());
    out = endpoint_id{bytes};
    return true;
  }
  bool read(std::vector<sequence_range>& out) {
    data_view field;
    if (!read(field) || field.size() % 2 != 0)
      return false;
    field_reader numbers{field};
    for (sequence_range each; !numbers.at_end(); out.push_back(each))
      if (!numbers.read(each.first) || !numbers.read(each.count) || each.count == 0 ||
          each.first + each.count < each.first)
        return false;
    return true;
  }
  /// All fields that are left; false if there are more.
  template <class... Fields>
  bool read_all(Fields&... out) {
    return (read(out) && ...) && at_end();
  }
  bool at_end() const noexcept { return next_ == data_view::iterator{}; }

private:
  template <class Use>
  bool take(data_type wanted, Use&& use) {
    if (at_end())
      return false;
    const auto field = *next_;
    ++next_;
    if (field.type() != wanted)
      return false;
    use(field);
    return true;
  }

  data_view::iterator next_;
};

} // namespace pubsub::pattern
