// Which log of Zeek has which path.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace pubsub::cluster {

/// The log that has this path in Zeek's own scripts, e.g. `DNS::LOG` for `dns`; for another path
/// what it would be by their custom, e.g. `Flows::LOG` for `flows`.
std::string usual_stream(std::string_view path);

} // namespace pubsub::cluster
