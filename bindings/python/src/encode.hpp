// Python objects to encoded values, without a tree in between.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <pybind11/pybind11.h>

#include <pubsub/data_writer.hpp>

#include "python_types.hpp"

namespace pubsub::python {

/// Containers inside containers that a value may have; decoders accept no more.
inline constexpr unsigned max_depth = 64;

/// Appends the value of `x` to `out` (docs/python.md has the table); an object with a method
/// `to_data()` counts as what that returns. May run Python code. Raises EncodeTypeError for types
/// without a counterpart and EncodeError for values out of range; `out` then holds a partial value.
void encode(PyObject* x, data_writer& out);

/// A writer that keeps its memory between uses. Each thread has one; nested uses get a fresh one.
class scratch_writer {
public:
  scratch_writer();
  ~scratch_writer();
  scratch_writer(const scratch_writer&) = delete;
  scratch_writer& operator=(const scratch_writer&) = delete;

  data_writer& operator*() noexcept { return writer_; }
  data_writer* operator->() noexcept { return &writer_; }

private:
  data_writer writer_;
};

} // namespace pubsub::python
