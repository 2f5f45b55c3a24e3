# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios of clients: endpoints that do not listen, and are known to their relays only."""

from .registry import STEADY, scenario, sizes, volume
from .world import LINK_CAPACITY


@scenario("clients", seeds=80)
def clients(w):
    """Clients publish and subscribe over one to four relays in a row, flat out, through queues of all sizes. In every
    other run subscriptions of clients come and go meanwhile. Each gets all, once and in order."""
    relays = [f"r{i}" for i in range(w.random.randint(1, 4))]
    w.chain(*relays, capacity=w.random.choice([16, 4_096]))
    names = [f"c{i}" for i in range(w.random.randint(3, 8))]
    w.start(*names, listens=False, capacity=w.random.choice([16, 4_096]))
    for name in names:
        w.connect(name, w.random.choice(relays))
    pubs = w.random.sample(names, k=2)
    for name in w.random.sample(names + relays, k=3):
        w.subscribe(name, capacity=w.random.choice([16, 4_096]))
    if w.random.random() < 0.5:
        for name in pubs:
            w.publish(name, messages=volume(w, 60_000), **sizes(w))
        return w.await_end()
    pub = w.publish(pubs[0], topics=3, per_second=50_000)
    guests = []
    for _ in range(w.random.randint(5, 20)):
        if guests and w.random.random() < 0.5:
            w.unsubscribe(guests.pop(w.random.randrange(len(guests))))
        else:
            guests.append(w.subscribe(w.random.choice(names), topic=w.random.choice(["/t", "/t1"]), whole=False))
        w.await_published(pub, w.random.randrange(50, 1_000))
    for guest in guests:
        w.unsubscribe(guest)


@scenario("relays-of-clients", seeds=80)
def relays_of_clients(w):
    """Two clients have two relays each, of three that are linked with one another. A relay is killed, closed, or
    stopped, or links of a client or between relays are cut; or all relays are killed. Then all is mended."""
    relays = ["a", "b", "c"]
    w.ring(relays, shim=True, liveness_ms=1_000)
    w.start("pub", "sub", listens=False, liveness_ms=1_000)
    for name, at in (("pub", "ab"), ("sub", "bc")):
        for relay in w.random.sample(at, k=2):
            w.connect(name, relay, shim=True)
    w.subscribe("sub")
    pub = w.publish("pub", **STEADY)
    for _ in range(1 if w.settings.short else 2):
        w.await_flow()
        w.await_published(pub, w.random.randrange(2_000, 5_000))
        with w.outage():
            break_and_mend(w, pub, relays)
        w.await_published(pub, 30_000)


def break_and_mend(w, pub, relays):
    """One fault of the kinds above."""
    kind = w.random.choice(["kill", "close", "stop", "cut", "all"])
    if kind == "stop":
        name = w.random.choice(relays)
        with w.cut(most=2 * LINK_CAPACITY):  # what waits at the relay that is silent, and on the way to it
            w.stop(name)
            w.await_flow()
        return w.go_on(name)
    if kind == "cut":
        links = w.random.sample(["a-b", "b-c", "c-a", "pub-a", "pub-b", "sub-b", "sub-c"], k=2)
        for name in links:
            w.link(name, "down")
        w.await_published_or_held(pub, w.random.randrange(1, 5_000))
        for name in links:
            w.link(name, "heal")
        return None
    names = relays if kind == "all" else [w.random.choice(relays)]
    for name in names:
        w.shut_down(name) if kind == "close" else w.kill(name)
    w.await_published_or_held(pub, w.random.randrange(1, 5_000))
    for name in names:
        w.start(name)
    for name in names:
        w.reconnect(name)
    return None
