// The benchmarks; each adds its options to `bench` and stores its outcome when it has run.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

void add_bench_butterfly(CLI::App& bench, exit_code& outcome);
void add_bench_stream(CLI::App& bench, exit_code& outcome);
void add_bench_chain(CLI::App& bench, exit_code& outcome);
void add_bench_compare(CLI::App& bench, exit_code& outcome);
/// Those named `_part` are processes that a benchmark starts, not shown in the help.
void add_bench_chain_part(CLI::App& bench, exit_code& outcome);
void add_bench_latency(CLI::App& bench, exit_code& outcome);
void add_bench_latency_part(CLI::App& bench, exit_code& outcome);
void add_bench_fanout(CLI::App& bench, exit_code& outcome);
void add_bench_routing(CLI::App& bench, exit_code& outcome);
void add_bench_routing_part(CLI::App& bench, exit_code& outcome);
void add_bench_codec(CLI::App& bench, exit_code& outcome);
void add_bench_condition(CLI::App& bench, exit_code& outcome);
void add_bench_filter(CLI::App& bench, exit_code& outcome);
void add_bench_filter_part(CLI::App& bench, exit_code& outcome);
void add_bench_idle(CLI::App& bench, exit_code& outcome);
void add_bench_idle_part(CLI::App& bench, exit_code& outcome);
void add_bench_clients(CLI::App& bench, exit_code& outcome);
void add_bench_clients_part(CLI::App& bench, exit_code& outcome);
void add_bench_mesh(CLI::App& bench, exit_code& outcome);
void add_bench_mesh_part(CLI::App& bench, exit_code& outcome);
void add_bench_memory(CLI::App& bench, exit_code& outcome);
void add_bench_batch_ack(CLI::App& bench, exit_code& outcome);
void add_bench_batch_ack_part(CLI::App& bench, exit_code& outcome);
void add_bench_remote(CLI::App& bench, exit_code& outcome);
void add_bench_remote_part(CLI::App& bench, exit_code& outcome);
void add_bench_versioned(CLI::App& bench, exit_code& outcome);
void add_bench_versioned_part(CLI::App& bench, exit_code& outcome);
void add_bench_python(CLI::App& bench, exit_code& outcome);
// Studies, built with PUBSUB_BUILD_STUDIES.
void add_bench_link(CLI::App& bench, exit_code& outcome);
void add_bench_link_part(CLI::App& bench, exit_code& outcome);
void add_bench_remote_study(CLI::App& bench, exit_code& outcome);
/// Only where the component pubsub::cluster is built.
void add_bench_zeek(CLI::App& bench, exit_code& outcome);
void add_bench_zeek_part(CLI::App& bench, exit_code& outcome);
/// Only where the component pubsub::record is built.
void add_bench_record(CLI::App& bench, exit_code& outcome);
/// Only where the component pubsub::broker is built.
void add_bench_bridge(CLI::App& bench, exit_code& outcome);

} // namespace pubsub::tool
