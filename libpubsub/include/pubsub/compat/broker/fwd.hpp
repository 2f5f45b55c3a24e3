// Names of Broker's C++ API, declared; and a clear error where Broker itself is there, too.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Macros of Broker's own headers, of versions 1 and 2.
#if defined(BROKER_ASSERT) || defined(BROKER_CAF_ATOM_ALIAS) || defined(BROKER_TRY_IMPL)
#error                                                                                             \
    "pubsub/compat/broker.hpp stands in for Broker's headers: include one or the other in a source"
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// What stands in for Broker's namespace. All names are in an inline namespace, so that a program
/// may link sources which use Broker itself along with sources which use this. So do not declare
/// them yourself (`namespace broker { class data; }`): include this header.
namespace broker {
inline namespace over_pubsub {

class address;
class configuration;
class data;
class data_envelope;
class data_message;
class endpoint;
class endpoint_id;
class error;
class port;
class publisher;
class status;
class status_subscriber;
class store;
class subnet;
class subscriber;
class topic;
class worker;
struct broker_options;
struct endpoint_info;
struct enum_value;
struct network_info;
struct none;
struct peer_info;
enum class ec : std::uint8_t;
enum class sc : std::uint8_t;
enum class peer_status;

template <class T>
class expected;

using boolean = bool;
using count = std::uint64_t;
using integer = std::int64_t;
using real = double;
using set = std::set<data>;
using table = std::map<data, data>;
using vector = std::vector<data>;

using clock = std::chrono::system_clock;
/// Nanoseconds, signed 64 bit.
using timespan = std::chrono::duration<std::int64_t, std::nano>;
/// Nanoseconds since the Unix epoch, UTC.
using timestamp = std::chrono::time_point<clock, timespan>;

using filter_type = std::vector<topic>;
/// Of version 2; version 1 calls CAF's.
using node_id = endpoint_id;
/// A value that is read where it lies, in Broker 2.8; here a value like all others.
using variant = data;

template <class T>
using optional = std::optional<T>;

namespace zeek {
class Message;
class Event;
class Batch;
class LogCreate;
class LogWrite;
class IdentifierUpdate;
} // namespace zeek

} // namespace over_pubsub
} // namespace broker
