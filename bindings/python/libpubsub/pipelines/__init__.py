# SPDX-License-Identifier: BSD-3-Clause
"""Load-balanced pipelines: a ventilator gives out tasks, workers do them, a sink takes the results.

``pipeline`` starts the processes of a whole one and wires them:

    from libpubsub import pipeline, stage

    def parse(line): ...
    def score(record): ...

    if __name__ == "__main__":
        with pipeline([stage(parse, workers=2), score]) as p:
            for result in p.map(open("conn.log")):
                print(result)

Its parts are roles for programs that wire themselves, on one host or many:

>>> import libpubsub
>>> from libpubsub import Sink, Ventilator, Worker
>>> with libpubsub.Endpoint() as endpoint:
...     with Worker(endpoint, lambda value: value * value), Sink(endpoint) as sink, Ventilator(endpoint) as out:
...         out.send_all(range(5))
...         sorted(sink.take(5))
5
[0, 1, 4, 9, 16]

Started in any order; workers may come, go and die while it runs. A task counts as done when the sink
has taken its result, so nothing is lost with a worker; what another worker had is marked, and may come twice.
"""

from .._core import Exchange, Task, TaskQueue
from .engine import Counters
from .process_pipeline import Pipeline, Results, join, pipeline
from .progress import Progress
from .roles import Sink, Ventilator, Worker
from .stages import Stage, stage

__all__ = ["Counters", "Exchange", "Pipeline", "Progress", "Results", "Sink", "Stage", "Task", "TaskQueue",
           "Ventilator", "Worker", "join", "pipeline", "stage"]
