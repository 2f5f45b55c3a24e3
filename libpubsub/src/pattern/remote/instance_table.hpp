// The instances of a service that a client knows, and what each was asked. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/id_map.hpp"
#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/remote_meter.hpp"
#include "pattern/remote/remote_plan.hpp"

namespace pubsub::pattern {

/// Not thread-safe.
class instance_table {
public:
  using time = std::chrono::steady_clock::time_point;

  struct taken_place {
    std::uint64_t call = 0;
    std::uint64_t request = 0;
  };
  struct instance {
    std::uint64_t stream = 0;
    std::uint64_t workers = 1;
    offered_operations operations{};
    bool leaving = false;
    time last_message{};
    time blocked_until{};         ///< nothing could be sent to it
    id_map<taken_place> places{}; ///< not answered
    id_map<sent_request> requests{};
    std::size_t late = 0; ///< calls that were given up since it last replied

    /// It may get one more request.
    bool is_free(const request_plan& plan, time now) const noexcept {
      return !leaving && now >= blocked_until &&
             (plan.requests_per_instance == 0 || requests.size() < plan.requests_per_instance);
    }
  };
  using map = std::map<endpoint_id, instance>;

  const map& all() const noexcept { return all_; }
  instance* find(const endpoint_id& id);
  /// What a status says of an instance; one that leaves and is not known is left out.
  void update(const service_status& status, time now);
  /// Out of the table: it is not known any more.
  std::optional<instance> extract(const endpoint_id& id);
  /// Of those that do not leave.
  service_size size() const noexcept;

  /// The one with the least to do for each of its workers, of those that have the operation and may
  /// get a request; null: there is none.
  map::value_type* choose(const std::string& operation, const request_plan& plan, time now);

  /// Operations sent and not answered, of all instances.
  std::size_t in_flight() const noexcept { return in_flight_; }
  /// Places for the calls of one request.
  void add_request(instance& at, const std::vector<std::uint64_t>& calls, std::size_t size_bytes,
                   time now);
  /// The call at this place, which then is answered. Nothing if it was.
  std::optional<std::uint64_t> take_place(instance& at, std::uint64_t place);

private:
  map all_;
  std::uint64_t next_stream_ = 1;
  std::size_t in_flight_ = 0;
};

} // namespace pubsub::pattern
