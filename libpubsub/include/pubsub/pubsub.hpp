// Everything: include this, or one header per noun.
#pragma once

#include <pubsub/address.hpp>
#include <pubsub/counters.hpp>
#include <pubsub/data.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/enum_value.hpp>
#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/format.hpp>
#include <pubsub/fwd.hpp>
#include <pubsub/log.hpp>
#include <pubsub/port.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/status.hpp>
#include <pubsub/status_subscriber.hpp>
#include <pubsub/stream.hpp>
#include <pubsub/subnet.hpp>
#include <pubsub/subscriber.hpp>
#include <pubsub/time.hpp>
#include <pubsub/tls_options.hpp>
#include <pubsub/topic.hpp>
