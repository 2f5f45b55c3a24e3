"""What a pipeline can do, computed: how many workers does it take, what does a batch cost?

Times are seconds, rates are per second. The formulas are those of the founding articles: *butterfly* (000: a stage
works at 1 / (input time + processing time + output time), instances of a stage add up, and the slowest stage sets the
rate of all) and *batch acknowledged pipelines* (001: after a batch the sender waits for its acknowledgement).

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

__all__ = ["Stage", "batch_throughput", "completion_time", "instances_needed", "measured_throughput",
           "pipeline_latency", "pipeline_throughput"]


@dataclasses.dataclass(frozen=True)
class Stage:
    """One step of a pipeline, done by `instances` workers side by side.

    `input` is the time to receive a task, `output` that to send its result; on one processor they come on top of
    `processing`, however many instances wait (article 000, equation 1).
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
        """Tasks per second of all instances (article 000, equations 1 and 2)."""
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
    and otherwise needs `per_task` seconds for each (article 001).
    """
    if batch < 1:
        raise ValueError(f"a batch has at least one task, not {batch}")
    return batch / (batch * per_task + round_trip)
