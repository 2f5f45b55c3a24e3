# SPDX-License-Identifier: BSD-3-Clause
"""What a pipeline can do, computed: how many workers does it take, what does a batch cost? And how long remote
operations take, sent one by one, in bulk, in parallel or as a stream.

Times are seconds, rates are per second. The formulas are those of the founding articles: *butterfly* (000: a stage
works at 1 / (input time + processing time + output time), instances of a stage add up, and the slowest stage sets the
rate of all), *batch acknowledged pipelines* (001: after a batch the sender waits for its acknowledgement) and *remote
execution models* (004: `t_sync`, `t_async`, `t_bulk`, `t_pipeline`). Sizes are bytes, bandwidths bytes per second.

>>> two = [Stage(processing=0.5), Stage(processing=0.5)]
>>> pipeline_throughput(two)
2.0
>>> instances_needed(Stage(processing=0.5), rate=7)
4
"""

from __future__ import annotations

import dataclasses
import math
from typing import Sequence

__all__ = ["RemoteConditions", "Stage", "batch_throughput", "completion_time", "instances_needed",
           "measured_throughput", "pipeline_latency", "pipeline_throughput", "t_async", "t_bulk", "t_pipeline",
           "t_segments", "t_sync", "t_windowed"]


@dataclasses.dataclass(frozen=True)
class Stage:
    """One step of a pipeline, done by `instances` workers side by side.

    `input` is the time to receive a task, `output` that to send its result; on one processor they come on top of
    `processing`, however many instances wait.
    """

    processing: float
    instances: int = 1
    input: float = 0.0
    output: float = 0.0

    def __post_init__(self) -> None:
        if self.instances < 1:
            raise ValueError(f"a stage has at least one instance, not {self.instances}")
        for name in ("processing", "input", "output"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is a time in seconds, not {getattr(self, name)}")
        if self.time == 0:
            raise ValueError("a stage that takes no time has no rate")

    @property
    def time(self) -> float:
        """Seconds that one instance needs for one task."""
        return self.input + self.processing + self.output

    @property
    def throughput(self) -> float:
        """Tasks per second of all instances."""
        return self.instances / self.time


def pipeline_throughput(stages: Sequence[Stage]) -> float:
    """Tasks per second of stages one behind the other: that of the slowest."""
    return min(stage.throughput for stage in stages)


def pipeline_latency(stages: Sequence[Stage]) -> float:
    """Seconds from the first stage to the end for one task that finds nobody busy."""
    return sum(stage.time for stage in stages)


def completion_time(stages: Sequence[Stage], tasks: int) -> float:
    """Seconds until the last of `tasks` leaves: the pipeline fills, then the slowest stage sets the pace.

    Tasks leave a stage in groups as large as it has instances.
    """
    if tasks < 1:
        return 0.0
    slowest = min(stages, key=lambda stage: stage.throughput)
    groups = math.ceil(tasks / slowest.instances)
    return pipeline_latency(stages) + (groups - 1) * slowest.time


def measured_throughput(stages: Sequence[Stage], tasks: int, seconds: float) -> float:
    """The rate of a finite run without the time the pipeline took to fill: what an endless one would show."""
    ideal_seconds = tasks / pipeline_throughput(stages)
    fill = completion_time(stages, tasks) - ideal_seconds
    if seconds <= fill:
        raise ValueError(f"{tasks} tasks cannot be done in {seconds} seconds")
    return tasks / (seconds - fill)


def instances_needed(stage: Stage, rate: float) -> int:
    """How many instances of a stage do `rate` tasks per second."""
    return max(1, math.ceil(rate * stage.time - 1e-9))


def batch_throughput(batch: int, per_task: float, round_trip: float) -> float:
    """Tasks per second where the sender waits `round_trip` seconds for the acknowledgement of each `batch` tasks,
    and otherwise needs `per_task` seconds for each.
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one task, not {batch}")
    return batch / (batch * per_task + round_trip)


@dataclasses.dataclass(frozen=True)
class RemoteConditions:
    """A network and a server as the models of remote execution see them, and operations of equal size.

    `latency` (t_lat, seconds): there and back, with what else a message costs whatever its size. `bandwidth` (bytes per
    second): of requests and responses together; the pipeline has half of it for each direction. `operation`
    (t_server_op, seconds): the server works on one operation. `request`, `response` (bytes): their sizes; the sum is the
    article's message_size. `setup` (seconds): what the article adds to t_lat where connections are made and authorized
    (t'_lat). Of parallel requests: `thread` (t_thread, seconds) to start one, `network_speedup` (n_net-||) and
    `server_speedup` (n_server-||), both at least 1.
    """

    latency: float
    bandwidth: float
    operation: float = 0.0
    request: float = 0.0
    response: float = 0.0
    setup: float = 0.0
    thread: float = 0.0
    network_speedup: float = 1.0
    server_speedup: float = 1.0

    def __post_init__(self) -> None:
        for name in ("latency", "operation", "request", "response", "setup", "thread"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is not negative, but {getattr(self, name)}")
        if not self.bandwidth > 0:
            raise ValueError(f"bandwidth is more than 0 bytes per second, not {self.bandwidth}")
        for name in ("network_speedup", "server_speedup"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} is at least 1, not {getattr(self, name)}")

    @property
    def message(self) -> float:
        """Bytes of a request and its response."""
        return self.request + self.response


def t_sync(n: int, at: RemoteConditions) -> float:
    """Seconds for `n` operations, each a request that waits for the one before.

    t_sync(n) = n (t_lat + message_size / bandwidth + t_server_op)
    """
    return _count(n) * (at.latency + at.message / at.bandwidth + at.operation)


def t_async(n: int, at: RemoteConditions) -> float:
    """Seconds for `n` operations, each a request by a thread of its own, in parallel.

    t_comm_async = t'_lat / n_net-|| + t_thread + message_size / (bandwidth n_net-||),
    t_async(n) = n (t_comm_async + t_server_op / n_server-||)
    """
    lat, speedup = at.latency + at.setup, at.network_speedup
    communication = lat / speedup + at.thread + at.message / (at.bandwidth * speedup)
    return _count(n) * (communication + at.operation / at.server_speedup)


def t_bulk(n: int, at: RemoteConditions) -> float:
    """Seconds for `n` operations in one request.

    t_bulk(n) = t'_lat + n (message_size / bandwidth + t_server_op)
    """
    return at.latency + at.setup + n * (at.message / at.bandwidth + at.operation) if _count(n) else 0.0


def t_segments(at: RemoteConditions) -> tuple[float, float, float]:
    """Seconds that one operation takes to be sent, executed and received.

    t_send = t_lat / 2 + request_size / (bandwidth / 2), t_execution = t_server_op,
    t_receive = t_lat / 2 + response_size / (bandwidth / 2)
    """
    half = at.bandwidth / 2
    return at.latency / 2 + at.request / half, at.operation, at.latency / 2 + at.response / half


def t_pipeline(n: int, at: RemoteConditions) -> float:
    """Seconds for `n` operations, each a request in a stream, with a stream of responses.

    t_pipeline(n) = (n - 1) max_i t_segm[i] + sum_i t_segm[i]. A segment is busy
    with one operation at a time, for half the latency too: see `t_windowed` where a stream carries many at a time.
    """
    segments = t_segments(at)
    return (n - 1) * max(segments) + sum(segments) if _count(n) else 0.0


def t_windowed(n: int, at: RemoteConditions, *, bulk: int = 1, window: int = 1_000, overhead: float = 0.0,
               up: float | None = None, down: float | None = None, workers: int = 1) -> float:
    """Seconds for `n` operations in requests of `bulk`, of which `window` operations may be under way.

    The article's pipeline, with a segment busy with a message only while it handles it: what is on the wire does not
    keep others out, so the latency passes once, unless the window is too short to cover it. `overhead` (seconds): what a
    message costs each segment; `up`, `down` (bytes per second): the directions, half the bandwidth each if not given;
    `workers`: that execute requests side by side. The other models are cases of this: sync has a window of one, bulk is
    one request. The mode `auto` chooses by it.
    """
    if not _count(n):
        return 0.0
    if bulk < 1 or window < 1 or workers < 1:
        raise ValueError("bulk, window and workers are at least 1")
    bulk = min(bulk, n)
    up, down = up or at.bandwidth / 2, down or at.bandwidth / 2
    requests = n / bulk
    send = overhead + bulk * at.request / up
    execute = overhead + bulk * at.operation
    receive = overhead + bulk * at.response / down
    once = at.latency + send + execute + receive
    room = max(1.0, window / bulk)  # requests
    waits = once / room if requests > room else 0.0  # for replies
    step = max(send, execute / min(room, requests, workers), receive, waits)
    return once + max(0.0, requests - 1) * step


def _count(n: int) -> int:
    if n < 0:
        raise ValueError(f"there are at least 0 operations, not {n}")
    return n
