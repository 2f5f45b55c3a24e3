# SPDX-License-Identifier: BSD-3-Clause
"""Remote execution: threads and event loops that wait for results."""

import asyncio
import threading

import pytest
from conftest import DEADLINE, wait_until
from remote_parties import client, gate, service

import libpubsub
from libpubsub import Service, as_completed


def test_threads_share_a_client(endpoint, service):
    service.start()
    results = {}
    with client(endpoint) as remote:
        def use(me):
            results[me] = [remote.call("echo", (me, i)) for i in range(50)] + remote.map("echo", range(500))

        threads = [threading.Thread(target=use, args=(i,)) for i in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(DEADLINE)
    assert results == {me: [(me, i) for i in range(50)] + list(range(500)) for me in range(6)}


def test_other_threads_go_on_while_a_client_waits(endpoint, service, gate):
    service.add("hold", lambda x: gate.wait())
    service.start()
    count, stop = 0, threading.Event()
    with client(endpoint) as remote:
        waiting = threading.Thread(target=lambda: remote.call("hold"))
        waiting.start()
        wait_until(lambda: remote.unfinished == 1)
        watch = threading.Timer(0.2, stop.set)
        watch.start()
        while not stop.is_set():
            count += 1
        gate.set()
        waiting.join(DEADLINE)
    assert count > 10_000


def test_submit_waits_for_room(endpoint, service, gate):
    service.add("hold", lambda x: gate.wait())
    service.start()
    futures = []
    with client(endpoint, "pipeline", max_unfinished=5) as remote:
        def submit():
            for i in range(20):
                futures.append(remote.submit("hold", i))

        submitting = threading.Thread(target=submit)
        submitting.start()
        wait_until(lambda: remote.unfinished == 5 and len(futures) == 5)
        gate.set()
        submitting.join(DEADLINE)
        assert [each.result(DEADLINE) for each in futures] == [True] * 20


def test_futures_come_as_they_are_completed(endpoint):
    gates = [threading.Event() for _ in range(3)]
    with Service(endpoint, "s", workers=3) as service:
        service.add("pass", lambda i: (gates[i].wait(DEADLINE), i)[1])
        service.start()
        with client(endpoint, "async") as remote:
            futures = [remote.submit("pass", i) for i in range(3)]
            order = as_completed(futures, timeout=DEADLINE)
            for i in (2, 0, 1):
                gates[i].set()
                assert next(order) is futures[i]
            assert list(order) == [] == list(as_completed([]))
            assert set(as_completed(futures)) == set(futures)  # those that are complete already
            gates[0].clear()
            with pytest.raises(libpubsub.Timeout, match="1 results are not here yet"):
                list(as_completed([futures[1], remote.submit("pass", 0)], timeout=0.05))
            gates[0].set()


def test_tasks_of_an_event_loop_await_results(endpoint, service, gate):
    service.add("hold", lambda x: gate.wait())
    service.add("fail", lambda x: 1 / x)
    service.start()

    async def main(remote):
        threads = threading.active_count()
        assert await remote.submit("echo", 1) == 1
        assert await asyncio.gather(*remote.submit_all("echo", range(2_000))) == list(range(2_000))
        done = remote.submit("echo", 2)
        done.result(DEADLINE)
        assert await done == 2 and await done == 2
        with pytest.raises(libpubsub.OperationFailed, match="ZeroDivisionError"):
            await remote.submit("fail", 0)
        with pytest.raises(libpubsub.NoSuchOperation):
            await remote.submit("ecko", 0)
        held = remote.submit("hold")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(held, 0.05)
        assert held.cancelled()
        gate.set()
        twice = remote.submit("hold")
        assert await asyncio.gather(twice, twice) == [True, True]
        assert threading.active_count() == threads

    with client(endpoint) as remote:
        for _ in range(2):  # a second loop, too
            gate.clear()
            asyncio.run(main(remote))


def test_a_result_that_nobody_awaits_any_more_harms_nothing(endpoint, service, gate):
    service.add("hold", lambda x: gate.wait())
    service.start()

    async def result_of(future, waits):
        waits.set()
        return await future

    async def main(remote):
        waiting = [asyncio.Event() for _ in range(3)]
        tasks = [asyncio.create_task(result_of(remote.submit("hold"), each)) for each in waiting]
        await asyncio.wait_for(asyncio.gather(*(each.wait() for each in waiting)), DEADLINE)
        for each in tasks:
            each.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(each) for each in results} == {asyncio.CancelledError}
        gate.set()
        assert await remote.submit("echo", 3) == 3

    with client(endpoint) as remote:
        asyncio.run(main(remote))
