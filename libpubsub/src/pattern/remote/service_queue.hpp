// What an instance of a service has to do: clients get their turns one after the other. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/remote/remote_messages.hpp"

namespace pubsub::pattern {

struct service_operation;
class reply_outbox;

/// Operations of one request, or a part of them.
struct service_work : client_places {
  std::shared_ptr<reply_outbox> to{};      ///< where results go
  const service_operation* what = nullptr; ///< null: the service has none of this name
  data_view::iterator arguments{};
  data_message storage{}; ///< of the arguments
  std::chrono::steady_clock::time_point arrived{};
  std::vector<std::uint64_t> cancelled{}; ///< of its places, ascending
};

/// Not thread-safe. Places of a client's stream come in their order, each once: what is below was
/// taken before, what is left out was lost on the way.
class service_queue {
public:
  /// A request is done in parts, so that all workers have their share.
  service_queue(std::size_t workers, std::size_t limit) : workers_(workers), limit_(limit) {}

  /// Returns the places before it that were lost on the way, which may be none; nothing if the
  /// request came before, or too late.
  std::optional<client_places> add(service_work work);
  /// What is done already does not matter.
  void cancel(const cancel_request& cancel);
  /// There must be some. All that is taken is put back.
  service_work take();
  /// What is left of it, if anything, goes on in the client's next turn.
  void put_back(service_work work);
  bool empty() const noexcept { return turns_.empty(); }
  /// No more should be read: what clients that are held back wait for does not count.
  bool full() const noexcept { return ready_ >= limit_; }

  /// Hands out no work of this client, which does not read its replies, until `go_on`.
  void hold_back(const endpoint_id& client);
  void go_on(const endpoint_id& client);
  void forget(const endpoint_id& client);
  /// All that has not been taken, and of the last stream of each client what has not come.
  std::vector<client_places> clear();

private:
  struct client_state {
    std::uint64_t stream = 0;
    std::uint64_t next = 0;            // places below have come
    std::set<std::uint64_t> cancelled; // of `stream`, in works or in hand
    std::deque<service_work> works;
    std::vector<client_places> in_hand; // taken and not put back
    std::size_t operations = 0;         // in works
    bool held_back = false;
    bool in_turns = false;
  };
  void give_turn(client_state& its);
  enum class place { first, last };
  void put(client_state& its, service_work work, place at);

  const std::size_t workers_, limit_;
  std::map<endpoint_id, client_state> clients_;
  std::deque<client_state*> turns_; // those that have work and are not held back
  std::size_t ready_ = 0;           // operations of these
};

} // namespace pubsub::pattern
