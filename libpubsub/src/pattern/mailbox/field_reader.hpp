// The fields of a message that is a vector.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/endpoint_id.hpp>

#include "pattern/mailbox/number_runs.hpp"

namespace pubsub::pattern {

/// Reads fields one after the other; false once one is not what it should be.
class field_reader {
public:
  explicit field_reader(const data_view& value) {
    if (value.type() != data_type::vector)
      return;
    auto all = value.elements();
    next_ = all.begin();
    end_ = all.end();
  }

  bool read(std::uint64_t& out) {
    const auto* field = take(data_type::count);
    if (field != nullptr)
      out = field->as_count();
    return field != nullptr;
  }
  bool read(bool& out) {
    const auto* field = take(data_type::boolean);
    if (field != nullptr)
      out = field->as_boolean();
    return field != nullptr;
  }
  bool read(std::string& out) {
    const auto* field = take(data_type::string);
    if (field != nullptr)
      out = field->as_string();
    return field != nullptr;
  }
  bool read(endpoint_id& out) {
    const auto* field = take(data_type::string);
    if (field == nullptr)
      return false;
    endpoint_id::bytes_type bytes{};
    const auto text = field->as_string();
    if (text.size() != bytes.size())
      return false;
    std::memcpy(bytes.data(), text.data(), bytes.size());
    out = endpoint_id{bytes};
    return true;
  }
  bool read(std::vector<number_run>& out) {
    const auto* field = take(data_type::vector);
    if (field == nullptr || field->size() % 2 != 0)
      return false;
    field_reader numbers{*field};
    for (number_run each; !numbers.at_end(); out.push_back(each))
      if (!numbers.read(each.first) || !numbers.read(each.count) || each.count == 0 ||
          each.first + each.count < each.first)
        return false;
    return true;
  }
  bool read(data_view& out) {
    const auto* field = take(data_type::vector);
    if (field != nullptr)
      out = *field;
    return field != nullptr;
  }
  bool at_end() const noexcept { return next_ == end_; }

private:
  const data_view* take(data_type wanted) {
    if (at_end())
      return nullptr;
    current_ = *next_;
    ++next_;
    return current_.type() == wanted ? &current_ : nullptr;
  }

  data_view::iterator next_;
  data_view::iterator end_;
  data_view current_;
};

} // namespace pubsub::pattern
