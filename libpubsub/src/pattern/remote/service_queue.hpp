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
#include <string>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/pattern/remote_options.hpp>

#include "pattern/remote/remote_messages.hpp"

namespace pubsub::pattern {

struct service_operation;
class reply_outbox;

/// Operations of one request, or a part of them.
struct service_work {
  endpoint_id client;
  std::shared_ptr<reply_outbox> to; ///< where results go
  std::uint64_t stream = 0;
  std::uint64_t first = 0;
  std::size_t count = 0;
  const service_operation* what = nullptr; ///< null: there is none of this name
  std::string name;                        ///< of that
  data_view::iterator arguments;
  data_message storage; ///< of the arguments
  std::chrono::steady_clock::time_point arrived{};
  std::vector<bool> cancelled; ///< which of them nobody waits for; empty: none
};

/// Not thread-safe. Places of a client's stream come in their order, each once: what is below was
/// taken before, what is left out was lost on the way.
class service_queue {
public:
  /// A request is done in parts, so that all workers have their share.
  service_queue(std::size_t workers, std::size_t limit) : workers_(workers), limit_(limit) {}

  struct arrival {
    bool taken = false;                ///< false: it came before, or too late
    std::optional<number_run> missing; ///< places that were lost on the way
  };
  /// `work` with client, first, count and the rest of what its request says.
  arrival add(service_work work);
  /// What is done already does not matter.
  void cancel(const cancel_request& cancel);
  /// There must be some. All that is taken is put back.
  service_work take();
  /// What is left of it, if anything, goes on in the client's next turn.
  void put_back(service_work work);
  bool empty() const noexcept { return turns_.empty(); }
  /// No more should be read: what clients that are held back wait for does not count.
  bool full() const noexcept { return ready_ >= limit_; }

  /// Nothing of this client is handed out: it does not read what it asked for.
  void hold_back(const endpoint_id& client);
  void go_on(const endpoint_id& client);
  void forget(const endpoint_id& client);
  /// Of each client and its last stream, the places that have not come.
  struct open_end {
    endpoint_id client;
    std::uint64_t stream = 0;
    number_run places;
  };
  std::vector<open_end> open_ends() const;
  /// All that has not been taken.
  std::vector<service_work> clear();

private:
  struct taken_part {
    std::uint64_t stream = 0;
    number_run places;
  };
  struct client_state {
    std::uint64_t stream = 0;
    std::uint64_t next = 0; // places below have come
    std::set<std::uint64_t> cancelled;
    std::deque<service_work> works;
    std::vector<taken_part> in_hand; // taken and not put back
    std::size_t operations = 0;      // in them
    bool held_back = false;
    bool in_turns = false;
  };
  void give_turn(const endpoint_id& id, client_state& its);
  static std::vector<bool> take_cancelled(client_state& its, const service_work& of);
  static void cancel_some(client_state& its, const std::vector<number_run>& places,
                          const number_run& of);
  enum class place { first, last };
  void put(const endpoint_id& id, client_state& its, service_work work, place at);

  const std::size_t workers_, limit_;
  std::map<endpoint_id, client_state> clients_;
  std::deque<endpoint_id> turns_; // of those that have work and are not held back
  std::size_t ready_ = 0;         // operations of those
};

} // namespace pubsub::pattern
