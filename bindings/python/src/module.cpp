// libpubsub._core: the compiled half of the package. People use what libpubsub/__init__.py exports.
// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>

#include "bind.hpp"
#include "times.hpp"
#include "waiting.hpp"

PYBIND11_MODULE(_core, m) {
  using namespace pubsub::python;
  m.doc() = "Compiled half of libpubsub.";
  m.attr("version") = PUBSUB_VERSION;
  load_python_types();
  load_datetime();
  fork_guard::install();
  find_main_thread();
  bind_waiting(m);
  bind_data(m);
  bind_message(m);
  bind_condition(m);
  bind_counters(m);
  bind_endpoint(m);
  bind_status(m);
  bind_network(m);
  bind_publisher(m);
  bind_subscriber(m);
  bind_zeek(m);
  bind_pipeline(m);
  bind_versioned(m);
  bind_remote(m);
#ifdef PUBSUB_HAS_RECORD
  bind_record(m);
#endif
#ifdef PUBSUB_HAS_BRIDGE
  bind_bridge(m);
#endif
}
