// What every fuzz_<name>.cpp defines: one decoder, as the engine drives it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pubsub::fuzz {

/// Decodes `bytes` and checks all that must hold, whatever they are. Nothing else may depend on
/// what earlier calls have seen.
void try_input(std::span<const std::byte> bytes);
/// Inputs to begin with, most of them from Broker itself.
std::vector<std::string> seeds();
/// Pieces that mean something to this decoder; they are written into inputs.
std::vector<std::string> words();

} // namespace pubsub::fuzz
