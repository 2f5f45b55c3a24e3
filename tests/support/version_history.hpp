// Whether replicas have handed out the same messages under the same versions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/pattern/versioned.hpp>

namespace pubsub::test {

/// Collects what replicas have handed out and what clients were told, and compares. One map for all
/// replicas: what the second one brings must be what the first one brought. Not thread-safe; needs
/// some hundred bytes for a version.
class version_history {
public:
  /// What a replica has handed out, in order. A replica that begins later than with number 1 has
  /// taken over the state before.
  class replica_part {
  public:
    void add(const versioned_message& x) { add(x.version, x.client, x.client_number, hash(x)); }
    void add(const message_version& at, const endpoint_id& client, std::uint64_t client_number,
             std::uint64_t content) {
      if (last_ != 0 && at.number != last_ + 1)
        whole_->complain(name_ + " hands out number " + std::to_string(at.number) + " after " +
                         std::to_string(last_));
      if (last_ == 0)
        first_ = at.number;
      last_ = at.number;
      if (!client.is_nil() && std::exchange(last_of_[client], client_number) >= client_number)
        whole_->complain(name_ + " hands out message " + std::to_string(client_number) + " of " +
                         to_string(client) + " behind a later one");
      whole_->compare(name_, at, {client, client_number, content});
    }
    std::uint64_t first() const noexcept { return first_; }
    std::uint64_t last() const noexcept { return last_; }

  private:
    friend class version_history;
    replica_part(version_history& whole, std::string name)
        : whole_(&whole), name_(std::move(name)) {}

    version_history* whole_;
    std::string name_;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    std::map<endpoint_id, std::uint64_t> last_of_; // number of a client
  };

  version_history() = default;
  version_history(const version_history&) = delete;
  version_history& operator=(const version_history&) = delete;

  replica_part replica(std::string name) { return {*this, std::move(name)}; }

  /// A client was told that all hold this message. Call when all replicas have come.
  void acknowledged(const endpoint_id& client, std::uint64_t client_number,
                    const message_version& at) {
    const auto found = versions_.find(at.number);
    if (found == versions_.end() || found->second.epoch != at.epoch ||
        found->second.what.client != client || found->second.what.client_number != client_number)
      complain("message " + std::to_string(client_number) + " of " + to_string(client) +
               " was acknowledged as " + to_string(at) + " and is not there");
  }

  /// Numbers that any replica has handed out are contiguous from 1 on.
  void check_contiguous() {
    std::uint64_t next = 1;
    for (const auto& [number, each] : versions_)
      if (number != next++) {
        complain("number " + std::to_string(next - 1) + " is missing");
        next = number + 1;
      }
  }

  std::uint64_t versions() const noexcept { return versions_.size(); }
  std::uint64_t voids() const noexcept { return voids_; }
  /// What does not hold; the first hundred.
  const std::vector<std::string>& violations() const noexcept { return violations_; }

private:
  struct message {
    endpoint_id client;
    std::uint64_t client_number = 0;
    std::uint64_t content = 0;
    friend bool operator==(const message&, const message&) = default;
  };
  struct entry {
    std::uint64_t epoch = 0;
    message what;
  };

  /// FNV-1a.
  static std::uint64_t hash(const versioned_message& x) {
    std::uint64_t result = 14695981039346656037ULL;
    for (const auto each : x.value.bytes())
      result = (result ^ static_cast<std::uint64_t>(each)) * 1099511628211ULL;
    return result;
  }

  void compare(const std::string& who, const message_version& at, const message& what) {
    const auto [found, added] = versions_.try_emplace(at.number, entry{at.epoch, what});
    if (!added) {
      if (found->second.epoch != at.epoch || !(found->second.what == what))
        complain(who + " hands out another message as number " + std::to_string(at.number) +
                 ": version " + to_string(at) + ", before that epoch " +
                 std::to_string(found->second.epoch));
      return;
    }
    if (what.client.is_nil())
      ++voids_;
    else if (!seen_[what.client].insert(what.client_number).second)
      complain("message " + std::to_string(what.client_number) + " of " + to_string(what.client) +
               " comes again as " + to_string(at));
  }

  void complain(std::string what) {
    if (violations_.size() < 100)
      violations_.push_back(std::move(what));
  }

  std::map<std::uint64_t, entry> versions_;
  std::map<endpoint_id, std::set<std::uint64_t>> seen_;
  std::uint64_t voids_ = 0;
  std::vector<std::string> violations_;
};

} // namespace pubsub::test
