// Marks what programs may link with: whatever is not marked stays inside the shared library.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// On every public class with members that are defined in the library, and on every such function.
#define PUBSUB_EXPORT __attribute__((visibility("default")))
