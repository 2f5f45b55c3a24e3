// What a result was measured on.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "json_object.hpp"

namespace pubsub::tool::bench {

/// Processor, cores, kernel, compiler and version of this program.
json_object describe_machine();

} // namespace pubsub::tool::bench
