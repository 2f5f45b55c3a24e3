# SPDX-License-Identifier: BSD-3-Clause
"""Subscribers in event loops: several tasks, several loops, cancellation."""

import asyncio
import threading

import pytest
from conftest import DEADLINE

import libpubsub


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, DEADLINE))


def test_async_for_gets_everything_in_order_and_ends(endpoint):
    subscriber = endpoint.make_subscriber("t")

    async def main():
        seen = []

        async def consume():
            async for message in subscriber:
                seen.append(message.data)

        task = asyncio.create_task(consume())
        await asyncio.sleep(0)  # into its wait
        for first in range(0, 5000, 1000):
            endpoint.publish_batch("t", range(first, first + 1000))
            await asyncio.sleep(0)
        endpoint.close()
        await task
        return seen

    assert run(main()) == list(range(5000))


def test_a_cancelled_wait_takes_no_message(endpoint):
    subscriber = endpoint.make_subscriber("t")

    async def main():
        for _ in range(20):
            task = asyncio.create_task(subscriber.__anext__())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await subscriber.get_async(0.01) is None
        endpoint.publish_batch("t", [1, 2])
        return [(await subscriber.get_async(DEADLINE)).data for _ in range(2)]

    assert run(main()) == [1, 2]


def test_several_tasks_share_the_messages(endpoint):
    subscriber = endpoint.make_subscriber("t")

    async def consume(mine):
        async for message in subscriber:
            mine.append(message.data)

    async def main():
        seen = [[] for _ in range(3)]
        tasks = [asyncio.create_task(consume(mine)) for mine in seen]
        await asyncio.sleep(0)
        for i in range(300):
            endpoint.publish("t", i)
            await asyncio.sleep(0)
        while subscriber.available() or sum(map(len, seen)) < 300:
            await asyncio.sleep(0)
        subscriber.close()
        await asyncio.gather(*tasks)
        return sorted(sum(seen, []))

    assert run(main()) == list(range(300))


def test_several_loops_share_one_subscriber(endpoint):
    subscriber = endpoint.make_subscriber("t")
    seen = [[], []]

    async def consume(mine):
        async for message in subscriber:
            mine.append(message.data)

    threads = [threading.Thread(target=asyncio.run, args=(consume(mine),)) for mine in seen]
    for thread in threads:
        thread.start()
    for i in range(2000):
        endpoint.publish("t", i)
    endpoint.close()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    assert sorted(seen[0] + seen[1]) == list(range(2000))


def test_a_busy_stream_lets_other_tasks_run(endpoint):
    subscriber = endpoint.make_subscriber("t")
    endpoint.publish_batch("t", range(10_000))

    async def main():
        turns = 0

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        other = asyncio.create_task(count())
        for _ in range(10_000):
            await subscriber.__anext__()
        other.cancel()
        return turns

    assert run(main()) >= 10


def test_status_events_arrive_in_loops_too(endpoint):
    status = endpoint.make_status_subscriber()

    async def main():
        endpoint.peer_async("tcp://127.0.0.1:1", retry=None)
        async for event in status:
            return event

    event = run(main())
    assert event.is_error and event.code == "peer_unavailable" and "127.0.0.1" in str(event)


def test_a_subscriber_gets_ready_in_a_loop(endpoint):
    address = f"tcp://127.0.0.1:{endpoint.listen('tcp://127.0.0.1:0')}"

    async def main():
        with libpubsub.Endpoint(forwarding=True) as other:
            other.peer(address)
            assert endpoint.wait_for_peer(other.id, DEADLINE)
            for number in range(20):
                subscriber = endpoint.make_subscriber(f"/fresh/{number}")
                assert await subscriber.wait_ready_async(DEADLINE)
                other.publish(f"/fresh/{number}", number)
                assert (await subscriber.get_async(DEADLINE)).data == number
            subscriber.close()
            assert not await subscriber.wait_ready_async()

    run(main())


def test_closed_subscribers_say_so(endpoint):
    subscriber = endpoint.make_subscriber("t")

    async def main():
        subscriber.close()
        with pytest.raises(libpubsub.Closed):
            await subscriber.get_async()

    run(main())
