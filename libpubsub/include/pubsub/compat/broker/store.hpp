// Broker's data stores, in memory, over topics of the library: a master that holds the entries and
// decides the order of all changes, and clones that follow it. They are among programs that include
// this header: real Brokers speak another protocol for theirs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/error.hpp>
#include <pubsub/compat/broker/missing.hpp>
#include <pubsub/compat/broker/store/frontend.hpp>
#include <pubsub/compat/broker/store/mailbox.hpp>

namespace broker {
inline namespace over_pubsub {

/// Only `memory` is there; `endpoint::attach_master` refuses the others.
enum class backend : std::uint8_t { memory, sqlite, rocksdb };
using backend_options = std::unordered_map<std::string, data>;

inline bool convert(backend from, std::string& to) {
  to = from == backend::memory ? "memory" : from == backend::sqlite ? "sqlite" : "rocksdb";
  return true;
}

/// A handle on a master or a clone; made by `endpoint::attach_master` and `attach_clone`. Copies
/// are handles on the same. Thread-safety: any thread.
///
/// What a master is told to change has changed when the call returns. A clone sends it to the
/// master, which does it once, in the order of this clone; a clone sees every change in the order
/// of the master, its own included, and some time later. Commands that fail (a key that is not
/// there, a value of the wrong type) change nothing and are not reported, as in Broker. Without a
/// master a clone answers from what it has, see `attach_clone`.
///
/// Errors of what is asked: no_such_key; type_clash; stale_data (a clone that has no master);
/// request_timeout; no_such_master (of `put_unique`: none came in time); invalid_data (of
/// `put_unique` at a clone: key and value have more than 32 MiB); shutting_down;
/// bad_member_function_call (a handle on nothing, or the endpoint is shut down).
class store {
public:
  using response = detail::store_responses::response;

  /// Asks without waiting: each question gives a number, and the answers come to a mailbox. Copies
  /// share it. One thread at a time.
  class proxy {
  public:
    proxy() = default;
    explicit proxy(const store& s) : frontend_(s.frontend_) {
      if (frontend_ == nullptr)
        return;
      responses_ = std::make_shared<detail::store_responses>();
      frontend_->closes(responses_);
    }

    bool valid() const noexcept { return responses_ != nullptr; }
    /// 0 from here on if this is not valid.
    request_id get(data key) { return ask({kind::get, std::move(key), {}}); }
    request_id exists(data key) { return ask({kind::exists, std::move(key), {}}); }
    request_id get_index_from_value(data key, data index) {
      return ask({kind::part, std::move(key), std::move(index)});
    }
    request_id keys() { return ask({kind::keys, {}, {}}); }
    request_id put_unique(data key, data value, std::optional<timespan> expiry = {}) {
      if (!valid())
        return 0;
      frontend_->submit({detail::store_action::put_unique, std::move(key), std::move(value),
                         data::type::none, expiry},
                        next_answer());
      return id_;
    }
    broker::mailbox mailbox() { return broker::mailbox{responses_}; }
    /// Waits for the next answer. `shutting_down` with number 0 once the endpoint is shut down and
    /// no answer is left.
    response receive() {
      auto next = valid() ? responses_->pop() : std::nullopt;
      return next ? std::move(*next) : response{ec::shutting_down, 0};
    }
    std::vector<response> receive(std::size_t n) {
      std::vector<response> result;
      while (result.size() < n)
        result.push_back(receive());
      return result;
    }

  private:
    request_id ask(detail::store_query query) {
      if (!valid())
        return 0;
      frontend_->ask(std::move(query), next_answer());
      return id_;
    }
    detail::store_answer next_answer() {
      return [to = responses_, id = ++id_](expected<data> answer) {
        to->push({std::move(answer), id});
      };
    }

    request_id id_ = 0;
    std::shared_ptr<detail::store_frontend> frontend_;
    std::shared_ptr<detail::store_responses> responses_;
  };

  /// A handle on nothing: what it is asked is an error, what it is told is ignored.
  store() = default;

  std::string name() const { return frontend_ != nullptr ? frontend_->name() : std::string{}; }
  /// Whether this is a handle on a store whose endpoint is not shut down.
  bool initialized() const { return frontend_ != nullptr && !frontend_->stopped(); }
  explicit operator bool() const { return initialized(); }
  void reset() { frontend_.reset(); }

  // -- asking ----------------------------------------------------------------------------------

  expected<data> get(data key) const { return ask({kind::get, std::move(key), {}}); }
  /// A boolean.
  expected<data> exists(data key) const { return ask({kind::exists, std::move(key), {}}); }
  /// Of a vector the value at `index`, of a table that behind the key `index`, of a set whether
  /// `index` is a member, of anything else the value itself.
  expected<data> get_index_from_value(data key, data index) const {
    return ask({kind::part, std::move(key), std::move(index)});
  }
  /// A set.
  expected<data> keys() const { return ask({kind::keys, {}, {}}); }

  // -- changing. With `expiry` an entry ends after so long; without, it does not end any more.
  // -----

  void put(data key, data value, std::optional<timespan> expiry = {}) const {
    tell({detail::store_action::put, std::move(key), std::move(value), none_type, expiry});
  }
  /// As `put`, if there is no such entry; returns whether there was none. Waits for the master, at
  /// most 10 seconds.
  expected<data> put_unique(data key, data value, std::optional<timespan> expiry = {}) const {
    return wait([&](detail::store_answer to) {
      frontend_->submit(
          {detail::store_action::put_unique, std::move(key), std::move(value), none_type, expiry},
          std::move(to));
    });
  }
  void erase(data key) const {
    tell({detail::store_action::erase, std::move(key), {}, none_type, {}});
  }
  void clear() const { tell({detail::store_action::clear, {}, {}, none_type, {}}); }
  /// Adds a number to one, or a span to a time or a span. Makes the entry if there is none, from
  /// zero; a span then makes a time.
  void increment(data key, data amount, std::optional<timespan> expiry = {}) const {
    const auto type = amount.get_type();
    const auto init = type == data::type::timespan ? data::type::timestamp
                      : amount.is_count() || amount.is_integer() || amount.is_real() ? type
                                                                                     : none_type;
    add(std::move(key), std::move(amount), init, expiry);
  }
  void decrement(data key, data amount, std::optional<timespan> expiry = {}) const {
    subtract(std::move(key), std::move(amount), expiry);
  }
  /// Adds to the end of a text. This and what follows makes the entry if there is none.
  void append(data key, data text, std::optional<timespan> expiry = {}) const {
    add(std::move(key), std::move(text), data::type::string, expiry);
  }
  void insert_into(data key, data index, std::optional<timespan> expiry = {}) const {
    add(std::move(key), std::move(index), data::type::set, expiry);
  }
  void insert_into(data key, data index, data value, std::optional<timespan> expiry = {}) const {
    add(std::move(key), vector{std::move(index), std::move(value)}, data::type::table, expiry);
  }
  /// To the end of a vector.
  void push(data key, data value, std::optional<timespan> expiry = {}) const {
    add(std::move(key), std::move(value), data::type::vector, expiry);
  }
  /// From a set or a table.
  void remove_from(data key, data index, std::optional<timespan> expiry = {}) const {
    subtract(std::move(key), std::move(index), expiry);
  }
  /// The last value of a vector.
  void pop(const data& key, std::optional<timespan> expiry = {}) const {
    subtract(key, key, expiry);
  }

  /// Waits until all clones hold what this master holds, or until the master has done all that this
  /// clone was told, and this clone holds what came of it. False at the timeout.
  [[nodiscard]] bool await_idle(timespan timeout = std::chrono::seconds{15}) const {
    return frontend_ != nullptr && frontend_->await_idle(timeout);
  }

  // What is missing.

  template <std::invocable<bool> F>
  void await_idle(F&&, timespan = {}) const {
    static_assert(detail::never<F>, "libpubsub calls nobody back here: wait in a thread of yours");
  }
  template <class... Ts>
  int frontend(Ts&&...) const {
    static_assert(detail::never<Ts...>, "libpubsub knows no actors of CAF: use the store itself");
    return 0;
  }
  template <class... Ts>
  int frontend_id(Ts&&...) const {
    static_assert(detail::never<Ts...>,
                  "libpubsub knows no actors of CAF: use the name of the store");
    return 0;
  }

private:
  friend class endpoint;
  using kind = detail::store_query::kind;
  static constexpr auto none_type = data::type::none;

  explicit store(std::shared_ptr<detail::store_frontend> frontend)
      : frontend_(std::move(frontend)) {}

  void tell(detail::store_command command) const {
    if (frontend_ != nullptr)
      frontend_->submit(std::move(command), nullptr);
  }
  void add(data key, data value, data::type init, std::optional<timespan> expiry) const {
    tell({detail::store_action::add, std::move(key), std::move(value), init, expiry});
  }
  void subtract(data key, data value, std::optional<timespan> expiry) const {
    tell({detail::store_action::subtract, std::move(key), std::move(value), none_type, expiry});
  }
  expected<data> ask(detail::store_query query) const {
    return wait([&](detail::store_answer to) { frontend_->ask(std::move(query), std::move(to)); });
  }
  /// Calls `begin` with what is to be told the answer, and waits for that.
  template <class Begin>
  expected<data> wait(Begin begin) const {
    if (!initialized())
      return error{ec::bad_member_function_call, "store state not initialized"};
    auto answered = std::make_shared<std::promise<expected<data>>>();
    auto answer = answered->get_future();
    begin([answered](expected<data> x) { answered->set_value(std::move(x)); });
    if (answer.wait_for(timeout::frontend) != std::future_status::ready)
      return ec::request_timeout;
    return answer.get();
  }

  std::shared_ptr<detail::store_frontend> frontend_;
};

} // namespace over_pubsub
} // namespace broker
