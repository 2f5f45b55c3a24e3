// A value as it travels: bin::v1.
#pragma once

#include <cstddef>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_writer.hpp>

namespace pubsub::pattern {

inline std::vector<std::byte> encoded_value(const data& value) {
  data_writer out;
  out.write(value);
  return out.take();
}

} // namespace pubsub::pattern
