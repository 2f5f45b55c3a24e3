// Places where tracers such as perf, bpftrace and gdb attach to a running program
// (docs/how-to/trace-with-probes.md).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#ifdef PUBSUB_HAS_PROBES

// Each probe has a word, which is not 0 while a tracer is attached to it: tracers find it by its
// name, and raise it.
#define PUBSUB_PROBE_WORD(name)                                                                    \
  extern volatile unsigned short pubsub_##name##_semaphore                                         \
      __attribute__((visibility("hidden"), section(".probes")))
extern "C" {
PUBSUB_PROBE_WORD(publish);
PUBSUB_PROBE_WORD(hop);
PUBSUB_PROBE_WORD(deliver);
PUBSUB_PROBE_WORD(drop);
}
#undef PUBSUB_PROBE_WORD
#define _SDT_HAS_SEMAPHORES 1 // every probe of a source names its word then
#define SDT_USE_VARIADIC 1    // one macro for any number of arguments
#include <sys/sdt.h>

namespace pubsub {

void fire_hop(std::string_view topic, std::uint64_t messages, std::uint64_t bytes,
              std::uint64_t links) noexcept;
void fire_deliver(std::string_view topic, std::uint64_t messages, std::uint64_t bytes) noexcept;
void fire_drop(std::string_view topic, std::uint64_t messages, const char* reason) noexcept;

} // namespace pubsub

/// The probe `pubsub:name`: an instruction that does nothing, and a note of where the topic (a view
/// on bytes, which makes two arguments) and the other arguments are at that moment. For arguments
/// that are at hand. Where a probe is in several places, its arguments have the same types in all
/// of them, and none is a constant: perf can have them only then. GCC takes it for some thirty
/// instructions, and does not inline functions that it would inline without it.
#define PUBSUB_PROBE(name, topic, ...)                                                             \
  STAP_PROBEV(pubsub, name, (topic).data(), (topic).size(), __VA_ARGS__)

/// Whether a tracer is attached to the probe `pubsub:name`.
#define PUBSUB_IS_TRACED(name) (pubsub_##name##_semaphore != 0)

/// The probe, where an argument costs something: they are evaluated only while a tracer is
/// attached, and the instruction is elsewhere.
#define PUBSUB_PROBE_IF_TRACED(name, ...)                                                          \
  do {                                                                                             \
    if (PUBSUB_IS_TRACED(name)) [[unlikely]]                                                       \
      ::pubsub::fire_##name(__VA_ARGS__);                                                          \
  } while (false)

#else

#define PUBSUB_PROBE(name, topic, ...) static_cast<void>(0)
#define PUBSUB_IS_TRACED(name) false
#define PUBSUB_PROBE_IF_TRACED(name, ...) static_cast<void>(0)

#endif
