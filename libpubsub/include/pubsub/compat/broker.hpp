// The part of Broker's C++ API that programs use, over this library: include it in its place.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pubsub/compat/broker/builder.hpp>
#include <pubsub/compat/broker/configuration.hpp>
#include <pubsub/compat/broker/convert.hpp>
#include <pubsub/compat/broker/data.hpp>
#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/compat/broker/endpoint.hpp>
#include <pubsub/compat/broker/error.hpp>
#include <pubsub/compat/broker/fwd.hpp>
#include <pubsub/compat/broker/message.hpp>
#include <pubsub/compat/broker/missing.hpp>
#include <pubsub/compat/broker/peer.hpp>
#include <pubsub/compat/broker/publisher.hpp>
#include <pubsub/compat/broker/status.hpp>
#include <pubsub/compat/broker/status_data.hpp>
#include <pubsub/compat/broker/status_subscriber.hpp>
#include <pubsub/compat/broker/store.hpp>
#include <pubsub/compat/broker/subscriber.hpp>
#include <pubsub/compat/broker/time.hpp>
#include <pubsub/compat/broker/topic.hpp>
#include <pubsub/compat/broker/values.hpp>
#include <pubsub/compat/broker/worker.hpp>
#include <pubsub/compat/broker/zeek.hpp>
