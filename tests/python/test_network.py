# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes come and go, and what they want, as Python sees it."""

import asyncio
import select

import pytest
from conftest import DEADLINE

import libpubsub

HERE = "tcp://127.0.0.1:{}"


def readable(descriptor):
    return bool(select.select([descriptor], [], [], 0)[0])


def test_nodes_come_and_go_with_their_topics(endpoint):
    address = HERE.format(endpoint.listen("tcp://127.0.0.1:0"))
    with endpoint.make_network_subscriber() as events:
        assert events.get(0) is None and not events.closed
        with libpubsub.Endpoint(name="guest", forwarding=True) as guest:
            subscriber = guest.make_subscriber("/a")
            guest.peer(address)
            node, topic = events.get(DEADLINE), events.get(DEADLINE)
            assert (node.change, node.node, node.name) == ("node_added", guest.id, "guest")
            assert node.relays and not node.client and node.topic == ""
            assert (topic.change, topic.node, topic.topic) == ("topic_added", guest.id, "/a")
            endpoint.publish("/a", 1)
            assert subscriber.get(DEADLINE).data == 1
            subscriber.close()
            topic = events.get(DEADLINE)
            assert (topic.change, topic.topic) == ("topic_removed", "/a")
        last = events.get(DEADLINE)
        assert (last.change, last.node, last.topic) == ("node_lost", guest.id, "")
        assert "node_lost" in str(last) and "guest" in repr(last)
    assert events.closed and "closed" in repr(events)
    with pytest.raises(libpubsub.Closed):
        events.get()
    assert list(events) == [] and events.poll() == []


def test_a_client_is_seen_by_its_relay(endpoint):
    with libpubsub.Endpoint(name="below", forwarding=False) as client, endpoint.make_network_subscriber() as events:
        client.peer(HERE.format(endpoint.listen("tcp://127.0.0.1:0")))
        event = events.get(DEADLINE)
        assert event.client and not event.relays and event.node == client.id
        with client.make_network_subscriber() as above:
            event = above.get(DEADLINE)
            assert (event.change, event.node, event.client) == ("node_added", endpoint.id, False)


def test_network_events_arrive_in_loops_too(endpoint):
    address = HERE.format(endpoint.listen("tcp://127.0.0.1:0"))
    events = endpoint.make_network_subscriber()
    assert not readable(events.fileno())

    async def main():
        assert await events.get_async(0.01) is None
        with libpubsub.Endpoint(forwarding=True) as guest:
            guest.peer(address)
            assert (await events.get_async(DEADLINE)).node == guest.id
        async for event in events:
            if event.change == "node_lost":
                break
        assert event.node == guest.id
        asyncio.get_running_loop().call_soon(endpoint.close)
        assert [each async for each in events] == []
        with pytest.raises(libpubsub.Closed):
            await events.get_async()

    asyncio.run(asyncio.wait_for(main(), DEADLINE))
    assert readable(events.fileno()) and list(events) == []
