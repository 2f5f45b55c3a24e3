// Everything: include this, or one header per noun.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pubsub/binary.hpp>
#include <pubsub/condition.hpp>
#include <pubsub/counters.hpp>
#include <pubsub/data.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/endpoint_options.hpp>
#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/format.hpp>
#include <pubsub/fwd.hpp>
#include <pubsub/log.hpp>
#include <pubsub/pattern/pipeline.hpp>
#include <pubsub/pattern/remote.hpp>
#include <pubsub/pattern/versioned.hpp>
#include <pubsub/peer_info.hpp>
#include <pubsub/publishable.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/received.hpp>
#include <pubsub/status.hpp>
#include <pubsub/status_subscriber.hpp>
#include <pubsub/stream.hpp>
#include <pubsub/subscriber.hpp>
#include <pubsub/tls_options.hpp>
#include <pubsub/topic.hpp>
#include <pubsub/trace.hpp>
#include <pubsub/value/address.hpp>
#include <pubsub/value/endpoint_id.hpp>
#include <pubsub/value/enum_value.hpp>
#include <pubsub/value/port.hpp>
#include <pubsub/value/subnet.hpp>
#include <pubsub/value/time.hpp>
