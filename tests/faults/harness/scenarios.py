# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios: what is built, what is done to it, and nothing of how it is judged.

A scenario is a function of a World. Unless it says otherwise, World.settle, check and close follow.
Everything random comes from `w.random`, so a seed makes the same plan again.
"""

from .calls import ServiceCalls
from .program import PATIENCE_S
from .registry import STEADY, require_kept, scenario, sizes, volume
from .replicas import ReplicaGroup
from .world import LINK_CAPACITY


# -- versioned delivery -----------------------------------------------------------------------------

@scenario("versioned", seeds=200, short_seeds=3)
def versioned(w):
    """Clients of all schemes send to three replicas. Replicas, often the one that stamps, are killed and
    started again, or stopped and continued. All histories agree, what was acknowledged is there, once."""
    group = ReplicaGroup(w, ("a", "b", "c"))
    group.start_clients()
    for _ in range(w.random.randint(1, 3)):
        group.await_acknowledged(w.random.randrange(100, 5_000))
        group.await_members()
        name = group.sequencer() if w.random.random() < 0.6 else w.random.choice(group.names)
        if w.random.random() < 0.6:
            w.kill(name)
            if w.random.random() < 0.7:
                group.await_acknowledged(w.random.randrange(100, 5_000))
            group.start_replica(name)
        else:
            w.stop(name)
            if w.random.random() < 0.7:
                group.await_acknowledged(w.random.randrange(100, 5_000))
            w.go_on(name)
    group.await_members()
    group.finish()


# -- remote execution -------------------------------------------------------------------------------

@scenario("remote", seeds=205, short_seeds=2)
def remote(w):
    """Clients of all modes call three instances of a service over relays. Instances and relays are killed and
    started again, stopped and continued, or leave. Every call ends in time, once; what cannot be repeated is
    done at most once, what can has a result; and when nobody is left every call is told so at once."""
    service = ServiceCalls(w)
    service.start_clients()
    for _ in range(w.random.randint(1, 3)):
        service.await_calls(w.random.randrange(100, 3_000))
        service.await_instances()
        service.break_something()
    service.await_calls(w.random.randrange(100, 3_000))
    service.end_of_service()
    service.finish()


# -- overload ---------------------------------------------------------------------------------------

@scenario("slow-consumer", seeds=80)
def slow_consumer(w):
    """One of two subscribing processes is stopped (SIGSTOP). With drop_oldest on the relay's links the
    other one misses nothing; with block the publisher stops, too, and nothing is lost afterwards."""
    policy = w.random.choice(["block", "drop_oldest"])
    w.start("pub", "fast", "slow")
    w.start("relay", policy=policy, capacity=20_000 if policy == "drop_oldest" else 2_000)
    for name in ("pub", "fast", "slow"):
        w.connect(name, "relay", shim=True)
    fast = w.subscribe("fast", isolated=True)
    w.subscribe("slow", policy=policy, capacity=1_000)
    rate = 0 if policy == "block" else 20_000
    pub = w.publish("pub", per_second=rate, min_bytes=1_000, max_bytes=2_000)
    w.await_received(fast, w.random.randrange(500, 3_000))
    w.stop("slow")
    if policy == "block":
        w.await_standstill(pub, fast.received())
    else:
        w.await_received(fast, w.random.randrange(30_000, 40_000))
    w.go_on("slow")
    w.await_received(fast, 2_000)


@scenario("stopped-neighbour", short_seeds=1, seeds=5)
def stopped_neighbour(w):
    """As slow-consumer with drop_oldest, but flat out: what the other subscriber gets while its neighbour is
    stopped, in per cent of before, is among the figures; it must not be held up. (It may well get more: the relay has
    less to do.)"""
    w.chain("pub", "relay", policy="drop_oldest", capacity=20_000)
    for name in ("fast", "slow"):
        w.start(name)
        w.connect(name, "relay")
        w.subscribe(name, policy="drop_oldest", capacity=20_000)
    w.publish("pub", min_bytes=100, max_bytes=100)
    fast = w.subscriptions[0]
    w.await_received(fast, 100_000)
    seconds = 1 if w.settings.short else 4
    before = w.throughput(fast, seconds)
    w.stop("slow")
    w.await_received(fast, 500_000)
    during = w.throughput(fast, seconds)
    w.go_on("slow")
    require_kept(w, "others_kept_percent", round(100 * during / before), 50, "the rate of the other subscriber")


@scenario("overload-policies", seeds=80)
def overload_policies(w):
    """Subscribers of every policy, too slow and with small queues, beside one that keeps up: each
    accounts for every message, and only `block` may hold the publisher up."""
    w.chain("pub", "relay", "sub")
    policies = w.nodes["pub"].program.greeting["policies"]
    w.subscribe("sub")
    if "disconnect" in policies:  # gets the beginning, and then no more
        policies.remove("disconnect")
        w.subscribe("sub", policy="disconnect", capacity=100, per_second=20_000, whole=False)
    for policy in w.random.sample(policies, k=w.random.randint(1, len(policies))):
        w.subscribe("sub", policy=policy, capacity=w.random.choice([1, 10, 500]), per_second=20_000)
    w.publish("pub", messages=volume(w, 60_000), topics=w.random.choice([1, 7]), **sizes(w))
    w.await_end()


@scenario("publisher-burst", seeds=90)
def publisher_burst(w):
    """Several publishers on many topics start at once, flat out, through one relay to two subscribers."""
    names = [f"pub{i}" for i in range(w.random.randint(2, 5))]
    w.start("relay", "sub", "other", *names)
    for name in ("sub", "other", *names):
        w.connect(name, "relay")
    w.subscribe("sub")
    w.subscribe("other", topic="/t/0")
    for i, name in enumerate(names):
        w.publish(name, topic=f"/t/{i}/", messages=volume(w, 300_000) // len(names), topics=w.random.randint(1, 20))
    w.await_end()


# -- dying nodes ------------------------------------------------------------------------------------


def replace_a_relay(w, pub, relays, most):
    """One of them is killed, and another takes its place once `pub` has published up to so many more."""
    with w.outage():
        name = w.random.choice(relays)
        w.kill(name)
        w.await_published(pub, w.random.randrange(1, most))
        w.start(name)
        w.reconnect(name)


@scenario("dead-relay", seeds=90)
def dead_relay(w):
    """A relay of a chain is killed under traffic, and another takes its place."""
    w.chain("pub", "relay", "second", "sub")
    w.subscribe("sub")
    pub = w.publish("pub", topics=w.random.randint(1, 5), **STEADY)
    w.await_published(pub, w.random.randrange(500, 5_000))
    replace_a_relay(w, pub, ["relay", "second"], 10_000)


@scenario("relay-restart", seeds=80)
def relay_restart(w):
    """A relay is closed in good order and started again, several times."""
    w.chain("pub", "relay", "sub")
    w.subscribe("sub")
    pub = w.publish("pub", **STEADY)
    for _ in range(w.random.randint(1, 3)):
        w.await_published(pub, w.random.randrange(500, 3_000))
        with w.outage():
            w.shut_down("relay")
            w.start("relay")
            w.reconnect("relay")


@scenario("mesh", short_seeds=3, seeds=60)
def mesh(w):
    """Ten nodes in a mesh, every pair of neighbours at distance one to three connected. Relays are killed
    and replaced one after another; the others carry on."""
    names = [f"n{i}" for i in range(10)]
    w.start(*names)
    for i in range(10):
        for step in (1, 2, 3):
            w.connect(names[i], names[(i + step) % 10])
    w.await_links()
    for name in ("n1", "n4"):
        w.subscribe(name)
    pubs = [w.publish(name, per_second=5_000, min_bytes=100, max_bytes=300) for name in ("n0", "n7")]
    w.await_flow()
    for _ in range(1 if w.settings.short else 3):
        with w.outage():
            name = w.random.choice(["n2", "n3", "n5", "n6", "n8", "n9"])
            w.kill(name)
            w.await_published(pubs[0], w.random.randrange(500, 3_000))
            w.start(name)
            w.reconnect(name)


@scenario("silent-peer", seeds=40)
def silent_peer(w):
    """A relay falls silent (SIGSTOP) while its connections stay: its peers notice it by liveness, and messages go
    the other way round. Later it goes on, and is linked again."""
    w.ring(["pub", "east", "sub", "west"], liveness_ms=1_000)
    w.subscribe("sub")
    pub = w.publish("pub", **STEADY)
    w.await_flow()
    with w.outage():
        name = w.random.choice(["east", "west"])
        with w.cut(most=LINK_CAPACITY):  # what waits at the silent relay; the rest is counted
            w.stop(name)
            w.await_loss("pub")
        w.await_flow()
        w.go_on(name)
    w.await_published(pub, 35_000)  # much beside what the silent relay has swallowed


@scenario("drained", seeds=60, least=100)
def drained(w):
    """A publisher drains, and is killed at once: whatever it had published arrives, however slow the reader."""
    w.chain("pub", "relay", "sub", capacity=w.random.choice([16, 1_000, 50_000]))
    w.subscribe("sub", per_second=w.random.choice([0, 5_000]))
    pub = w.publish("pub", topics=w.random.randint(1, 5), **STEADY)
    w.await_published(pub, w.random.randrange(100, 5_000))
    w.end_publishing(pub)
    left = w.drain("pub")
    w.require(left == 0, f"drain returned {left}")
    w.kill("pub")
    w.cuts = 0  # nothing may be lost


@scenario("addressed", seeds=80)
def addressed(w):
    """Messages for one endpoint each (publish_to), over two relays, to two subscribers of the same topic: each gets its
    own, and all of them. Flat out, small queues hold the publisher up; or a relay is killed and replaced."""
    flat_out = w.random.random() < 0.5
    capacity = w.random.choice([16, 1_000]) if flat_out else 4_096
    w.chain("pub", "first", "second", "one", capacity=capacity)
    w.start("other", capacity=capacity)
    w.connect("other", "second")
    for name in ("one", "other"):
        w.subscribe(name, capacity=capacity, per_second=20_000 if flat_out and w.random.random() < 0.5 else 0)
    sources = [w.publish("pub", topic=f"/t/{name}", to=name, **(
        {"messages": volume(w, 40_000), **sizes(w)} if flat_out else STEADY)) for name in ("one", "other")]
    if flat_out:
        return w.await_end()
    w.await_published(sources[0], w.random.randrange(1_000, 5_000))
    replace_a_relay(w, sources[0], ["first", "second"], 5_000)


@scenario("mixed-links", seeds=80)
def mixed_links(w):
    """A chain whose links are TCP, TLS or unix:// sockets of both versions, between nodes with one to four I/O threads.
    A relay is killed under traffic, and another takes its place."""
    w.certificates.make()
    names = ["pub", "first", "second", "sub"]
    for name in names:
        w.start(name, scheme=w.random.choice(["tcp", "tls", "unix"]), version=w.random.choice([1, 2, 2]),
                io_threads=w.random.randint(1, 4))
    for one, other in zip(names, names[1:]):
        w.connect(one, other)
    w.subscribe("sub")
    pub = w.publish("pub", topics=w.random.randint(1, 5), **STEADY)
    w.await_published(pub, w.random.randrange(1_000, 5_000))
    replace_a_relay(w, pub, ["first", "second"], 5_000)


@scenario("shared-memory", seeds=50, short_seeds=3)
def shared_memory(w):
    """A chain whose links share memory, rings of 4 KiB to 1 MiB. Relays are killed under traffic twenty times, stopped
    before that or not: what shared memory with them keeps neither memory nor descriptors, and the others go on."""
    names = ["pub", "first", "second", "sub"]
    for name in names:
        w.start(name, scheme="unix", ring=w.random.choice([4_096, 65_536, 1 << 20]), version=w.random.choice([1, 2, 2]))
    for one, other in zip(names, names[1:]):
        w.connect(one, other)
    links = {"pub": 1, "first": 2, "second": 2, "sub": 1}
    sub = w.subscribe("sub")
    pub = w.publish("pub", topics=w.random.randint(1, 5), **STEADY)
    w.await_shared_memory(links)
    before = {name: w.descriptors(name) for name in ("pub", "sub")}
    for kill in range(3 if w.settings.short or w.settings.sanitized else 20):
        if kill % 2 == 1:
            w.throughput(sub, 1.1)  # peerings that last less than a second, three in a row, are tried again ever later
        w.await_published(pub, w.random.randrange(1, 2_000))
        with w.outage():
            name = w.random.choice(["first", "second"])
            if w.random.random() < 0.3:
                w.stop(name)
                w.await_published_or_held(pub, w.random.randrange(1, 2_000))
            w.kill(name)
            w.start(name)
            w.reconnect(name)
        w.await_shared_memory(links)
    now = {name: w.descriptors(name) for name in before}
    w.require(now == before, f"descriptors: {now}, and {before} before relays were killed")


@scenario("two-faults", seeds=80)
def two_faults(w):
    """Between a publisher and a subscriber there are two ways, of two relays each. Two things break at once, on one of
    them or on both: relays are killed or stopped, links are reset, down, or half-open. Then all are mended."""
    names = ["pub", "a", "b", "sub", "c", "d"]
    w.ring(names, shim=True)
    w.subscribe("sub")
    pub = w.publish("pub", **STEADY)
    w.await_flow()
    w.await_published(pub, w.random.randrange(2_000, 5_000))
    links = [f"{one}-{other}" for one, other in zip(names, names[1:] + names[:1])]
    broken = w.random.sample([("kill", name) for name in "abcd"] + [("stop", name) for name in "abcd"] +
                             [(verb, link) for verb in ("down", "vanish") for link in links], k=2)
    with w.outage():
        for verb, what in broken:
            if verb in ("kill", "stop"):
                getattr(w, verb)(what)
            else:
                w.link(what, verb)
        w.await_published_or_held(pub, w.random.randrange(1, 5_000))
        for verb, what in broken:
            if verb == "kill":
                w.start(what)
                w.reconnect(what)
            elif verb == "stop":
                w.go_on(what)
            else:
                w.vanished_bytes += w.link(what, "heal").get("vanished_bytes", 0)
    w.await_published(pub, 10_000)


# -- broken links -----------------------------------------------------------------------------------

@scenario("flapping-link", seeds=90)
def flapping_link(w):
    """A link of a chain is reset again and again, at times with a pause before it can be used again."""
    w.chain("pub", "relay", "sub", shim=True)
    w.subscribe("sub")
    pub = w.publish("pub", **STEADY)
    for _ in range(w.random.randint(3, 8)):
        w.await_published(pub, w.random.randrange(100, 3_000))
        name = w.random.choice(["pub-relay", "relay-sub"])
        with w.outage():
            if w.random.random() < 0.5:
                w.link(name, "reset")
            else:
                w.link(name, "down", for_ms=w.random.randrange(1, 100))
            w.await_healthy(name)


@scenario("half-open", seeds=60)
def half_open(w):
    """One side of a link goes on believing in its connection while its bytes vanish; then it is reset."""
    w.chain("pub", "relay", "sub", shim=True)
    w.subscribe("sub")
    pub = w.publish("pub", **STEADY)
    w.await_published(pub, w.random.randrange(500, 3_000))
    name = w.random.choice(["pub-relay", "relay-sub"])
    with w.outage():
        w.link(name, "vanish")
        w.await_published_or_held(pub, w.random.randrange(100, 10_000))
        w.vanished_bytes += w.link(name, "heal")["vanished_bytes"]
    w.await_published(pub, 10_000)


@scenario("partition-and-heal", seeds=90)
def partition_and_heal(w):
    """Two halves of a network are parted, in one direction or in both. A short partition costs
    nothing: TCP delivers once it heals. One in which the link breaks costs what was in flight."""
    w.chain("a", "west", "east", "b", shim=True)
    w.subscribe("b")
    w.subscribe("a", topic="/u")
    pub = w.publish("a", **STEADY)
    w.publish("b", topic="/u", **STEADY)
    w.await_flow()
    for _ in range(w.random.randint(1, 3)):
        w.await_published(pub, w.random.randrange(100, 3_000))
        for_ms = w.random.randrange(20, 400)
        if w.random.random() < 0.7:
            direction = w.random.choice(["forward", "backward", "both"])
            w.link("west-east", "stall", direction=direction, for_ms=for_ms)
            w.await_healthy("west-east")
        else:
            with w.outage():
                w.link("west-east", "down", for_ms=for_ms)
                w.await_healthy("west-east")


@scenario("link-shapes", seeds=80)
def link_shapes(w):
    """Links that carry a byte at a time, delay, jitter, or limit bandwidth lose and reorder nothing."""
    w.chain("pub", "relay", "sub", shim=True)
    for name in ("pub-relay", "relay-sub"):
        shape = w.random.choice([{"chunk_bytes": 1}, {"chunk_bytes": w.random.randrange(2, 100)},
                                 {"delay_ms": w.random.randrange(1, 40), "jitter_ms": w.random.randrange(0, 40)},
                                 {"bytes_per_second": 500_000}])
        w.link(name, "shape", direction=w.random.choice(["forward", "backward", "both"]), **shape)
    w.subscribe("sub")
    w.publish("pub", messages=min(2_000, volume(w, 8_000)), topics=w.random.choice([1, 10]))
    w.await_end()


# -- topologies -------------------------------------------------------------------------------------

@scenario("ring", seeds=90)
def ring(w):
    """Three to eight relays in a ring, publishers and subscribers anywhere on it, flat out: each message
    comes once, in order, and none is lost. In every third run, a link of the ring is cut for a while."""
    names = [f"r{i}" for i in range(w.random.randint(3, 8))]
    cut = w.random.random() < 0.3
    w.ring(names, shim=cut, capacity=w.random.choice([16, 4_096]))
    for name in w.random.sample(names, k=2):
        w.subscribe(name)
    sources = w.random.sample(names, k=2)
    if not cut:
        for name in sources:
            w.publish(name, messages=volume(w, 100_000))
        return w.await_end()
    pubs = [w.publish(name, **STEADY) for name in sources]
    w.await_flow()
    at = w.random.randrange(len(names))
    name = f"{names[at]}-{(names + names[:1])[at + 1]}"
    with w.outage():
        w.link(name, "down")
        w.await_published(pubs[0], w.random.randrange(100, 3_000))
        w.await_flow()
        w.link(name, "heal")


@scenario("long-ring", seeds=1, short_seeds=1)
def long_ring(w):
    """Ten million messages around a ring of four relays, to two subscribers."""
    w.ring(["r0", "r1", "r2", "r3"])
    for name in ("r1", "r2"):
        w.subscribe(name)
    w.publish("r0", messages=volume(w, volume(w, 10_000_000)))
    w.await_end()


@scenario("crowded-mesh", seeds=60)
def crowded_mesh(w):
    """Four to six nodes, linked at random beyond a ring, all of which publish and subscribe flat out through small
    queues of policy block: everybody is slowed down, nobody for ever, and nothing is lost."""
    names = [f"n{i}" for i in range(w.random.randint(4, 6))]
    w.ring(names, capacity=w.random.choice([16, 256]))
    for i, one in enumerate(names):
        for other in names[i + 2:]:
            if w.random.random() < 0.4 and (one, other) != (names[0], names[-1]):
                w.connect(one, other)
    w.await_links()
    for name in names:
        w.subscribe(name, capacity=w.random.choice([16, 256]))
    for name in names:
        w.publish(name, messages=volume(w, 40_000) // len(names), **sizes(w))
    w.await_end()


@scenario("changing-links", seeds=60)
def changing_links(w):
    """A chain of five gets further links under traffic, until there are many ways, and loses some again."""
    names = ["n0", "n1", "n2", "n3", "n4"]
    w.chain(*names)
    for name in w.random.sample(names, k=2):
        w.subscribe(name)
    pub = w.publish(w.random.choice(names), **STEADY)
    extra = [(one, other) for i, one in enumerate(names) for other in names[i + 2:]]
    w.random.shuffle(extra)
    there = []
    for _ in range(w.random.randint(2, 8)):
        w.await_published(pub, w.random.randrange(100, 2_000))
        if extra and (not there or w.random.random() < 0.7):
            there.append(extra.pop())
            w.add_link(*there[-1])
        else:
            with w.outage():
                w.cut_link(*there.pop(w.random.randrange(len(there))))


@scenario("subscriber-churn", seeds=90)
def subscriber_churn(w):
    """Subscribers come and go on every node while messages flow. The one that stays gets all of them, the
    others all from their first to their last."""
    w.chain("pub", "relay", "sub")
    stays = w.subscribe("sub")
    pub = w.publish("pub", topics=3, per_second=50_000)
    guests = []
    for _ in range(w.random.randint(5, 30)):
        if guests and w.random.random() < 0.5:
            w.unsubscribe(guests.pop(w.random.randrange(len(guests))))
        else:
            guests.append(w.subscribe(w.random.choice(["pub", "relay", "sub"]), topic=w.random.choice(["/t", "/t1"]),
                                      whole=False))
        w.await_published(pub, w.random.randrange(50, 1_000))
    w.await_received(stays, 1)
    for guest in guests:
        w.unsubscribe(guest)


@scenario("thousand-peers", short_seeds=1, seeds=5, least=50)
def thousand_peers(w):
    """A thousand peers on one node, spread over four processes, each with a subscriber."""
    n = 100 if w.settings.sanitized else 1_000
    w.memory_bound_mib = 1_024
    w.start("hub", "pub")
    w.connect("pub", "hub")
    hosts = [f"host{i}" for i in range(4)]
    w.start(*hosts)
    for i in range(n):
        name, at = hosts[i % 4], f"p{i}"
        w.nodes[name].ask("open", at=at, capacity=64)
        w.subscribe(name, at=at, capacity=64)
        w.nodes[name].ask("peer", at=at, uri=w.nodes["hub"].address)
    w.publish("pub", messages=volume(w, 1_000), patience_s=4 * PATIENCE_S)
    w.await_end()
