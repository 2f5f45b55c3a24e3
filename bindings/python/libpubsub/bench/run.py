# SPDX-License-Identifier: BSD-3-Clause
"""One measurement: a process that publishes and one that subscribes, and what they tell each other.

Messages are numbered, and every number is checked. They travel in steps: a list is made, published and timed; as many
are received, timed and checked. What is not timed is making the lists and checking them. Steps of end marks follow.
"""

from __future__ import annotations

import collections
import itertools
import multiprocessing
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

if TYPE_CHECKING:
    from .libraries import Library

END = 2**64 - 1
"""The number of what is no message of the stream."""
STEP = 1024
"""Messages in a step."""
SPARE_S = 30.0
"""Seconds to start, and to receive what was published."""


@dataclass(frozen=True)
class Case:
    """What is measured. ``figures``: names of the rates, of publishing (or none) and of receiving.

    ``held``: receiving begins when everything has arrived and waits in the memory of the subscriber's process, so that
    its rate is that of the reading side alone. Otherwise it begins at once and is timed from first to last message.
    """

    figures: tuple[str | None, str]
    records: bool = False
    held: bool = True


CASES = (Case(("publish", "iterate")), Case((None, "records"), records=True), Case((None, "stream"), held=False))
FIGURES = ("publish", "iterate", "records", "stream")


@dataclass(frozen=True)
class Limits:
    """When publishing ends: after ``duration_s`` seconds or ``messages`` messages, each of ``payload_bytes``."""

    duration_s: float
    messages: int
    payload_bytes: int


def wait_until(condition: Callable[[], object], otherwise: str, interval_s: float = 0.005) -> None:
    """Looks every ``interval_s`` seconds. Raises TimeoutError, with the words of ``otherwise``, after ``SPARE_S``."""
    end = time.monotonic() + SPARE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(otherwise)
        time.sleep(interval_s)


class Run:
    """What the two processes share; ``spawn`` passes it on."""

    def __init__(self, library: Library, case: Case, limits: Limits) -> None:
        context = multiprocessing.get_context("spawn")
        self.library, self.case, self.limits = library, case, limits
        self.port = context.Value("i", 0, lock=False)
        self.published = context.Value("Q", 0, lock=False)
        self.delivered = context.Value("Q", 0, lock=False)
        self.disordered = context.Value("Q", 0, lock=False)
        self.send_rate = context.Value("d", 0.0, lock=False)
        self.receive_rate = context.Value("d", 0.0, lock=False)
        self.sent = context.Value("b", False, lock=False)
        self.received = context.Value("b", False, lock=False)

    @property
    def waits(self) -> bool:
        """Whether the subscriber waits until all has arrived."""
        return self.case.held and self.library.holds

    def wait_for_port(self) -> int:
        """The port that the subscriber has put into ``port``."""
        wait_until(lambda: self.port.value, "the subscriber told no port")
        return int(self.port.value)

    def wait_until_received(self) -> None:
        wait_until(lambda: self.received.value, "the subscriber did not come to its end")

    def results(self) -> dict[str, Any]:
        """Members of a sample; of one that failed only the reason."""
        if not self.received.value:
            return {"failed": f"did not come to its end: {self.published.value} messages were published, "
                              f"{self.delivered.value} of them seen to arrive"}
        published, delivered = self.published.value, self.delivered.value
        rates = {self.case.figures[1]: self.receive_rate.value}
        if self.case.figures[0]:
            rates[self.case.figures[0]] = self.send_rate.value
        return {"rates": rates, "published": published, "delivered": delivered, "dropped": max(0, published - delivered),
                "reordered": self.disordered.value}


class Sending:
    """Hands out the steps to publish and takes their times; leaving it tells the subscriber."""

    def __init__(self, run: Run) -> None:
        self.run, self.count, self.seconds = run, 0, 0.0
        self.pack = run.library.packer(run)
        self.end = time.perf_counter() + run.limits.duration_s

    def steps(self) -> Iterator[list[Any]]:
        window = self.run.library.window
        while self.count < self.run.limits.messages and time.perf_counter() < self.end:
            if window:
                wait_until(lambda: self.count + STEP - self.run.delivered.value <= window,
                           "the subscriber does not read", interval_s=0.0001)
            step = [self.pack(number) for number in range(self.count, self.count + STEP)]
            begin = time.perf_counter()
            yield step
            self.seconds += time.perf_counter() - begin
            self.count += STEP
            self.run.published.value = self.count
        yield [self.pack(END)] * STEP
        self.run.send_rate.value = self.count / self.seconds
        self.run.sent.value = True


class Receiving:
    """Counts and checks what arrives; ``take`` is false once the end marks have come."""

    def __init__(self, run: Run) -> None:
        self.run, self.expected, self.count, self.wrong = run, 0, 0, 0
        self.read, self.seconds = 0, 0.0
        self.begin = 0.0

    def wait_until_held(self) -> None:
        """Returns when nothing arrives any more: this process has come to rest."""
        wait_until(lambda: self.run.sent.value, "the publisher did not come to its end")
        looks: collections.deque[float] = collections.deque(maxlen=5)

        def at_rest() -> bool:
            looks.append(time.process_time())
            return len(looks) == looks.maxlen and looks[-1] - looks[0] < 0.004

        wait_until(at_rest, "the subscriber's process did not come to rest", interval_s=0.02)

    def take(self, step: Sequence[Any], seconds: float) -> bool:
        """Books a step that took so long to receive."""
        now = time.perf_counter()
        if self.read == 0:
            self.begin = now - seconds
        self.read += len(step)
        self.seconds += seconds
        number_of = self.run.library.number_of
        numbers = [number_of(message) for message in step]
        ended = END in numbers
        for number in itertools.takewhile(END.__ne__, numbers):
            self.wrong += number != self.expected
            self.expected = number + 1
            self.count += 1
        self.run.delivered.value = self.count
        if ended:
            self._finish(now)
        return not ended

    def _finish(self, now: float) -> None:
        self.run.disordered.value = self.wrong
        self.run.receive_rate.value = self.read / (self.seconds if self.run.case.held else now - self.begin)
        self.run.received.value = True


def read(run: Run, source: Iterator[Any]) -> None:
    """Receives from an iterator of messages until the end marks."""
    receiving = Receiving(run)
    decode = run.library.decoder() if run.case.records else None
    if run.waits:
        receiving.wait_until_held()
    go_on = True
    while go_on:
        step: list[Any] = []
        append = step.append
        begin = time.perf_counter()
        if decode:
            for message in itertools.islice(source, STEP):
                append(decode(message))
        else:
            for message in itertools.islice(source, STEP):
                append(message)
        go_on = receiving.take(step, time.perf_counter() - begin)


def write(run: Run, publish: Callable[[list[Any]], object]) -> None:
    """Publishes step by step, then waits until all has been received."""
    for step in Sending(run).steps():
        publish(step)
    run.wait_until_received()


def measure(library: Library, case: Case, limits: Limits) -> dict[str, Any]:
    """Runs both processes to their end; returns what ``Run.results`` says."""
    run = Run(library, case, limits)
    with library.serving():
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=part, args=(run,), daemon=True) for part in (library.receive, library.send)]
        try:
            for process in processes:
                process.start()
            processes[0].join(limits.duration_s + SPARE_S)
            processes[1].join(10 if run.received.value else 0)
        finally:
            for process in processes:
                process.kill()
                process.join()
    return run.results()
