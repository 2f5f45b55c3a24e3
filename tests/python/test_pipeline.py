# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines: ventilator, workers, sink, in this process and in others that are killed."""

import os
import random
import subprocess
import sys
import threading
import time

import pytest
from conftest import DEADLINE, wait_until

import libpubsub
from libpubsub import Exchange, Sink, TaskQueue, Ventilator, Worker

WORKER = """
import sys, libpubsub
from libpubsub import Worker
endpoint = libpubsub.Endpoint()
endpoint.peer(sys.argv[1], retry=0.05, timeout=30)
Worker(endpoint, lambda value: value, sys.argv[2], sys.argv[3]).join()
"""


KILL_SECONDS = min(float(os.environ.get("PUBSUB_KILL_SECONDS", 4)), 60.0)


@pytest.fixture
def hub():
    with libpubsub.Endpoint() as endpoint:
        yield endpoint, f"tcp://127.0.0.1:{endpoint.listen('tcp://127.0.0.1:0')}"


def start_worker(uri, source="tasks", sink="results"):
    return subprocess.Popen([sys.executable, "-c", WORKER, uri, source, sink])


def test_every_task_is_done_by_some_worker_and_its_result_taken_once(endpoint):
    with Sink(endpoint) as sink, Worker(endpoint, lambda x: x * x) as one, Worker(endpoint, lambda x: x * x):
        with Ventilator(endpoint) as out:
            assert out.wait_for_workers(2, DEADLINE)
            sender = threading.Thread(target=out.send_all, args=(range(1000),))
            sender.start()
            assert sorted(sink.take(1000, DEADLINE)) == [x * x for x in range(1000)]
            sender.join()
            assert out.drain(DEADLINE) == 0
            assert out.counters()["done"] == out.counters()["sent"] == 1000
            assert one.queue.available() == 0


def test_a_name_that_nobody_has_is_told(endpoint, caplog, monkeypatch):
    monkeypatch.setattr("libpubsub.pipelines.roles._TIME_TO_WARN", 0.0)
    with Worker(endpoint, abs, "no such name") as worker, Ventilator(endpoint, "another") as out:
        assert not worker.wait_for_source(0.05)
        assert not out.wait_for_workers(1, 0.05)
        end = time.monotonic() + DEADLINE
        while "nobody gives out tasks under the name 'no such name'" not in caplog.text:
            assert time.monotonic() < end
            worker.queue.wait_for_exchanges(1, 0.01)
        with Ventilator(endpoint, "no such name"):
            assert worker.wait_for_source(DEADLINE)
            assert worker.queue.exchanges == 1
    for queue_or_exchange in (TaskQueue(endpoint), Exchange(endpoint)):
        with pytest.raises(libpubsub.InvalidArgument, match="without a name"):
            queue_or_exchange.bind("")


def test_of_two_ventilators_of_a_name_the_younger_one_says_why_it_closed(endpoint):
    with Ventilator(endpoint, "only one") as one, Ventilator(endpoint, "only one") as other:
        wait_until(lambda: one.exchange.closed or other.exchange.closed)
        loser = one if one.exchange.closed else other
        with pytest.raises(libpubsub.InvalidArgument, match="another exchange is named 'only one'"):
            loser.send(1)


def test_an_ordered_sink_takes_results_in_the_order_of_their_tasks(endpoint):
    done = [threading.Event() for _ in range(200)]

    def second_first(x):
        if x % 2 == 0:
            assert done[x + 1].wait(DEADLINE)
        done[x].set()
        return x

    with Sink(endpoint, ordered=True) as sink, Worker(endpoint, second_first, concurrency=8), Ventilator(endpoint) as out:
        out.send_all(range(200))
        assert sink.take(200, DEADLINE) == list(range(200))


def test_a_worker_that_raises_gives_the_task_to_another_and_at_last_to_the_dead_letters(endpoint, caplog):
    def picky(x):
        if x == "poison":
            raise ValueError(x)
        return x

    with Sink(endpoint) as sink, Sink(endpoint, "dead") as dead, Worker(endpoint, picky):
        with Ventilator(endpoint, max_losses=2, dead_letters="dead") as out:
            out.send_all(["meat", "poison", "bread"])
            assert sorted(sink.take(2, DEADLINE)) == ["bread", "meat"]
            buried = dead.get(DEADLINE)
            assert (buried.value, buried.number, buried.redelivered) == ("poison", 1, True)
            buried.done()
            assert out.drain(DEADLINE) == 0
            assert out.counters()["dead"] == 1
    assert "ValueError('poison')" in caplog.text


def test_workers_of_two_stages_are_killed_and_every_result_comes(hub):
    """Twice only what is marked: of several results of a task at most one says that nobody else had it."""
    endpoint, uri = hub
    places = [("tasks", "middle"), ("middle", "results")] * 2
    workers = [start_worker(uri, *place) for place in places]
    unmarked, results, marked, kills = set(), set(), 0, 0
    try:
        with Sink(endpoint) as sink, Ventilator(endpoint, window=500) as out:
            assert out.wait_for_workers(2, DEADLINE)
            sent = 0
            end = time.monotonic() + KILL_SECONDS
            next_kill = time.monotonic() + 0.5
            while time.monotonic() < end or out.exchange.in_flight > 0:  # what is done again must be taken again
                assert time.monotonic() < end + DEADLINE, f"{sent - len(results)} results are missing"
                while time.monotonic() < end and out.send(sent, timeout=0):
                    sent += 1
                if next_kill < time.monotonic() < end:
                    victim = random.randrange(len(workers))
                    workers[victim].kill()
                    workers[victim].wait()
                    workers[victim] = start_worker(uri, *places[victim])
                    kills += 1
                    next_kill = time.monotonic() + random.uniform(0.2, 1)
                while (task := sink.get(timeout=0)) is not None:
                    if not task.redelivered:
                        assert task.value not in unmarked, "twice, and not marked"
                        unmarked.add(task.value)
                    results.add(task.value)
                    marked += task.redelivered
                    task.done()
            now = out.counters()
            print(f"{sent} tasks, {kills} kills in {KILL_SECONDS} s, {marked} results marked, {now}")
            assert results == set(range(sent)) and sent > 1000
            assert now["done"] == sent and now["dead"] == 0 and marked > 0
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def test_the_window_bounds_what_is_under_way(endpoint):
    with Ventilator(endpoint, window=3) as out:
        assert [out.send(i, timeout=0) for i in range(4)] == [True, True, True, False]
        assert out.exchange.in_flight == 3
        assert out.drain(timeout=0.01) == 3


def test_bad_options_say_what_is_wrong(endpoint):
    for options in ({"window": 0}, {"style": "x"}, {"balancing": "x"}, {"on_worker_loss": "x"}, {"scope": "x"},
                    {"max_losses": 0}, {"liveness_timeout": 0}, {"liveness_timeout": 0.1}):
        with pytest.raises(libpubsub.InvalidArgument):
            Exchange(endpoint, "x", **options)
    for options in ({"credit": 0}, {"batch": 0}, {"concurrency": 0}, {"scope": "x"}):
        with pytest.raises(libpubsub.InvalidArgument):
            TaskQueue(endpoint, "x", **options)


def test_what_is_closed_says_so(endpoint):
    out, queue = Exchange(endpoint, "x"), TaskQueue(endpoint, "y")
    waiting = threading.Thread(target=lambda: pytest.raises(libpubsub.Closed, queue.get))
    waiting.start()
    for each in (out, queue):
        each.close()
        each.close()
        assert each.closed
    waiting.join(DEADLINE)
    assert not waiting.is_alive()
    with pytest.raises(libpubsub.Closed):
        out.send(1)
    with pytest.raises(libpubsub.Closed):
        queue.get()


def test_the_result_of_a_task_is_sent_once(endpoint):
    out, queue, results = Exchange(endpoint, "x"), TaskQueue(endpoint), Exchange(endpoint, "y")
    queue.bind("x")
    out.send("task")
    task = queue.get(DEADLINE)
    results.send_result("result", task)
    with pytest.raises(libpubsub.InvalidArgument):
        results.send_result("result", task)
    with pytest.raises(libpubsub.InvalidArgument):
        task.done()


def test_a_forked_child_gets_an_error(endpoint):
    out = Exchange(endpoint, "x")
    child = os.fork()
    if child == 0:
        try:
            out.send(1)
        except libpubsub.ForkError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert not out.closed
