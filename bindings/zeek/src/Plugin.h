// What Zeek loads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <zeek/plugin/Plugin.h>

namespace zeek::plugin::Pubsub_Cluster_Backend_Pubsub {

class Plugin final : public zeek::plugin::Plugin {
protected:
  zeek::plugin::Configuration Configure() override;
};

extern Plugin plugin;

} // namespace zeek::plugin::Pubsub_Cluster_Backend_Pubsub
