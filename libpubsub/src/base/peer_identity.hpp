// Who a peer is, as far as its connection shows it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace pubsub {

/// All members are empty for a peer that shows neither a certificate nor a user nor a token: it is
/// anonymous.
struct peer_identity {
  std::string subject{};            ///< of its certificate, as RFC 2253 writes it
  std::vector<std::string> names{}; ///< common and alternative names in it
  std::string user{};               ///< that has connected within the host; empty if unknown
  std::string uid{};                ///< its number
  std::string token{};              ///< the digest of that which it shows, as in access rules

  bool anonymous() const noexcept { return subject.empty() && uid.empty() && token.empty(); }
};

} // namespace pubsub
