// Forward declarations of the public classes: include this where a name is enough.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pubsub {

class address;
class bridge_publisher;
class condition;
class data;
class data_message;
class data_view;
class data_writer;
class encodable;
class endpoint;
class endpoint_id;
class enum_value;
class error;
class exchange;
class filter;
class network_subscriber;
class port;
class publishable;
class publisher;
class readiness;
class remote;
class remote_future;
class replica;
class service;
class status;
class status_subscriber;
class stream;
class subnet;
class subscriber;
class task;
class task_queue;
class topic;
class versioned_group;
struct endpoint_options;
struct none;
struct peer_options;
struct queue_options;
struct tls_options;
template <class T>
class expected;
template <class T>
class received;

} // namespace pubsub
