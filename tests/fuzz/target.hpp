// The function that each fuzz_<decoder>.cpp defines, as libFuzzer and OSS-Fuzz call it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Decodes `data` and checks all that must hold whatever it is; ends the process where something
/// does not. No call depends on what an earlier one has seen.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
