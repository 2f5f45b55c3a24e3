// Forward declarations of the public classes: include this where a name is enough.
#pragma once

namespace pubsub {

class address;
class data;
class data_message;
class data_view;
class endpoint;
class endpoint_id;
class enum_value;
class error;
class filter;
class port;
class publisher;
class status;
class status_subscriber;
class stream;
class subnet;
class subscriber;
class topic;
struct endpoint_options;
struct none;
struct queue_options;
struct tls_options;
template <class T>
class expected;

} // namespace pubsub
