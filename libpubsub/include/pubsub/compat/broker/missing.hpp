// What of Broker is not here: using it does not compile, and says what to use.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace broker {
inline namespace over_pubsub {

namespace detail {

/// False, but only once a template is used.
template <class...>
inline constexpr bool never = false;

/// Members of Broker's endpoint that do nothing here, or are not there: those say what to use.
class endpoint_leftovers {
public:
  // What Broker needs and this does not.

  static void init_system() {}
  static void deinit_system() {}
  static void init_socket_api() {}
  static void deinit_socket_api() {}
  static void init_ssl_api() {}
  static void deinit_ssl_api() {}
  struct system_guard {
    system_guard() {}
    ~system_guard() {}
  };
  bool await_stores_on_shutdown() const { return false; }
  void await_stores_on_shutdown(bool) {}

  // What is missing.

  template <class... Ts>
  int make_hub(Ts&&...) {
    static_assert(never<Ts...>, "libpubsub has no hubs: use one endpoint for each");
    return 0;
  }
  template <class... Ts>
  int system(Ts&&...) {
    static_assert(never<Ts...>, "libpubsub knows no actors of CAF: use endpoint::subscribe");
    return 0;
  }
  template <class... Ts>
  int core(Ts&&...) const {
    static_assert(never<Ts...>, "libpubsub knows no actors of CAF: use endpoint::subscribe");
    return 0;
  }
  template <class... Ts>
  void send_later(Ts&&...) {
    static_assert(never<Ts...>, "libpubsub knows no actors of CAF: use a timer");
  }
  template <class... Ts>
  void advance_time(Ts&&...) {
    static_assert(never<Ts...>, "the time of libpubsub is that of the clock");
  }
};

} // namespace detail

} // namespace over_pubsub
} // namespace broker
