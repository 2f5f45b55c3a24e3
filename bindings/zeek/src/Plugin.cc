// SPDX-License-Identifier: BSD-3-Clause
#include "Plugin.h"

#include <zeek/cluster/Component.h>

#include "Backend.h"
#include "RecordSerializer.h"

namespace zeek::plugin::Pubsub_Cluster_Backend_Pubsub {

Plugin plugin;

zeek::plugin::Configuration Plugin::Configure() {
  AddComponent(new zeek::cluster::BackendComponent("PUBSUB", pubsub_plugin::Backend::Instantiate));
  AddComponent(new zeek::cluster::LogSerializerComponent(
      "PUBSUB_RECORDS_V1", pubsub_plugin::RecordSerializer::Instantiate));
  zeek::plugin::Configuration config;
  config.name = "Pubsub::Cluster_Backend_Pubsub";
  config.description = "Cluster backend using libpubsub";
  config.version.major = 1;
  config.version.minor = 0;
  config.version.patch = 0;
  return config;
}

} // namespace zeek::plugin::Pubsub_Cluster_Backend_Pubsub
