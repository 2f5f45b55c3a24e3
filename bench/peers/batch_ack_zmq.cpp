// Batch acknowledged pipelines on libzmq: a ventilator PUSHes tasks to workers,
// which PUSH results to a sink, which PUSHes an acknowledgement back for every batch that is done.
// Each is a process. A ventilator has at most so many batches in flight; the article has one.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/memory.hpp"
#include "support/numbered.hpp"
#include "support/run.hpp"
#include "support/zmq_handles.hpp"

#include <algorithm>
#include <chrono>

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int patience_ms = 20'000;
constexpr unsigned sink_stage = 0; // workers are 1, 2 ... and two ports of the ventilator follow

struct pipeline_options {
  std::uint64_t tasks = 1'000'000;
  std::uint64_t batch = 100;
  std::uint64_t in_flight = 1; ///< batches
  unsigned workers = 4;

  std::uint64_t batches() const { return (tasks + batch - 1) / batch; }
  std::uint64_t size_of(std::uint64_t number) const {
    return std::min(batch, tasks - number * batch);
  }
  unsigned task_stage() const { return workers + 1; }
  unsigned ack_stage() const { return workers + 2; }
};

/// A task, and its result. An acknowledgement is the number of a batch.
struct task_message {
  std::uint64_t number = 0;
  std::uint64_t batch = 0;
};

template <class Value>
void send_value(zmq_end& out, const Value& value) {
  checked(zmq_send(out.handle(), &value, sizeof value, 0), "zmq_send");
}

template <class Value>
Value receive_value(zmq_end& in, const char* who) {
  Value value{};
  checked(zmq_recv(in.handle(), &value, sizeof value, 0), who);
  return value;
}

/// Hears of peers that have connected to a socket. Make it before the socket is bound.
class arrivals {
public:
  arrivals(const zmq_context& context, zmq_end& of) : events_(context, ZMQ_PAIR) {
    checked(zmq_socket_monitor(of.handle(), address, ZMQ_EVENT_HANDSHAKE_SUCCEEDED),
            "zmq_socket_monitor");
    events_.connect(address);
  }
  void wait_for(unsigned n) {
    zmq_message part;
    for (unsigned parts = 0; parts < 2 * n; ++parts) // an event, and an address
      checked(zmq_msg_recv(part.get(), events_.handle(), 0), "zmq_msg_recv");
  }

private:
  static constexpr const char* address = "inproc://arrivals";
  zmq_end events_;
};

/// Sends batch after batch; returns the most tasks it has had in flight.
std::uint64_t send_all(zmq_end& out, zmq_end& acks, const pipeline_options& options) {
  std::uint64_t in_flight = 0;
  std::uint64_t most = 0;
  std::uint64_t acknowledged = 0;
  auto take_ack = [&] {
    in_flight -=
        options.size_of(receive_value<std::uint64_t>(acks, "ventilator, waiting for a batch"));
    ++acknowledged;
  };
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; batch < options.batches(); ++batch) {
    if (batch - acknowledged == options.in_flight)
      take_ack();
    for (auto n = options.size_of(batch); n > 0; --n, ++in_flight)
      send_value(out, task_message{number++, batch});
    most = std::max(most, in_flight);
  }
  while (acknowledged < options.batches())
    take_ack();
  return most;
}

void ventilate(run_state& state, const pipeline_options& options) {
  using clock = std::chrono::steady_clock;
  zmq_context context;
  zmq_end out{context, ZMQ_PUSH};
  zmq_end acks{context, ZMQ_PULL};
  acks.set(ZMQ_RCVTIMEO, patience_ms);
  arrivals workers{context, out};
  state.tell_port(options.ack_stage(), acks.bind_tcp());
  state.tell_port(options.task_stage(), out.bind_tcp());
  workers.wait_for(options.workers);
  auto begin = clock::now();
  state.in_flight_max = send_all(out, acks, options);
  state.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  state.published = options.tasks;
  state.peak_bytes[options.task_stage()] = peak_memory_bytes();
  state.ended = true;
}

// Ends with the run.
void work(run_state& state, const pipeline_options& options) {
  zmq_context context;
  zmq_end in{context, ZMQ_PULL};
  zmq_end out{context, ZMQ_PUSH};
  out.connect(tcp_address(state.wait_for_port(sink_stage)));
  in.connect(tcp_address(state.wait_for_port(options.task_stage())));
  for (zmq_message message;;) {
    checked(zmq_msg_recv(message.get(), in.handle(), 0), "zmq_msg_recv");
    checked(zmq_msg_send(message.get(), out.handle(), 0), "zmq_msg_send");
  }
}

void collect(run_state& state, const pipeline_options& options) {
  zmq_context context;
  zmq_end in{context, ZMQ_PULL};
  zmq_end acks{context, ZMQ_PUSH};
  in.set(ZMQ_RCVTIMEO, patience_ms);
  state.tell_port(sink_stage, in.bind_tcp());
  acks.connect(tcp_address(state.wait_for_port(options.ack_stage())));
  std::vector<bool> seen(options.tasks);
  std::vector<std::uint64_t> done(options.batches());
  std::uint64_t delivered = 0;
  for (std::uint64_t i = 0; i < options.tasks; ++i) {
    auto task = receive_value<task_message>(in, "sink, waiting for a result");
    if (task.number >= options.tasks || seen[task.number])
      continue;
    seen[task.number] = true;
    ++delivered;
    if (++done[task.batch] == options.size_of(task.batch))
      send_value(acks, task.batch);
  }
  state.delivered = delivered;
  state.disordered = options.tasks - delivered;
  state.peak_bytes[sink_stage] = peak_memory_bytes();
  state.wait_for_end();
}

pipeline_options parse(int argc, char** argv) {
  pipeline_options options;
  CLI::App app{"Batch acknowledged pipelines on libzmq."};
  auto add = [&](const char* name, auto& value, const char* what) {
    app.add_option(name, value, what)->check(CLI::PositiveNumber)->capture_default_str();
  };
  add("--tasks", options.tasks, "Tasks to send");
  add("--batch", options.batch, "Tasks that are acknowledged together");
  add("--in-flight", options.in_flight, "Batches that are not acknowledged, at most");
  add("--workers", options.workers, "Processes between ventilator and sink");
  try {
    app.parse(argc, argv);
    if (options.ack_stage() >= run_state::most_stages)
      throw CLI::ValidationError("--workers", "too many");
  } catch (const CLI::ParseError& problem) {
    std::exit(app.exit(problem) == 0 ? 0 : 1);
  }
  return options;
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse(argc, argv);
  run_options processes;
  processes.setup = "chain";
  processes.relays = options.workers;
  processes.duration_s = 60 + static_cast<double>(options.tasks) / 2000;
  return run("libzmq", PEER_VERSION, processes,
             {.subscribe = [&](run_state& state) { collect(state, options); },
              .relay = [&](run_state& state, unsigned) { work(state, options); },
              .publish = [&](run_state& state) { ventilate(state, options); }});
}
