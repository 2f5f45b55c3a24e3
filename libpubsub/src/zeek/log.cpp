// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/log.hpp>

#include <utility>

#include <pubsub/zeek/event.hpp>

namespace pubsub::zeek {

std::string log_topic(std::string_view path) {
  return "zeek/records/" + std::string{path};
}

data make_log_event(std::string_view path, vector values) {
  vector args;
  args.emplace_back(std::move(values));
  return make_event("log_" + std::string{path}, std::move(args));
}

data make_log_fields_event(const log_schema& schema) {
  vector fields;
  fields.reserve(schema.fields.size());
  for (const auto& field : schema.fields)
    fields.emplace_back(vector{data{field.name}, data{field.type}});
  return make_event("log_fields", vector{data{schema.path}, data{std::move(fields)}});
}

} // namespace pubsub::zeek
