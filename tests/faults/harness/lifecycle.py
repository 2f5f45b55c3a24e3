# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios of life cycle and resources: opening and closing, descriptors, memory, and time."""

import resource

from .registry import STEADY, scenario, volume


@scenario("open-close", short_seeds=1, seeds=3, least=60)
def open_close(w):
    """A thousand times two endpoints are opened, peered, used and closed: no thread, descriptor or memory
    is left behind."""
    node = w.start("node")
    first = node.ask("cycle", count=volume(w, 1_000) // 5, timeout_ms=5_000)
    last = node.ask("cycle", count=volume(w, 1_000), timeout_ms=5_000, patience_s=300)
    w.count_messages(first["received"] + last["received"])
    w.require(last["received"] == volume(w, 1_000), f"{last['received']} messages came in {volume(w, 1_000)} cycles")
    for kind in ("threads", "descriptors"):
        w.require(last[kind] <= first[kind], f"{kind}: {first[kind]} before, {last[kind]} after")
    growth_kb = last["rss_kb"] - first["rss_kb"]
    w.figures["growth_kb"] = growth_kb
    w.require(growth_kb < 4_096 or w.settings.sanitized, f"memory grew by {growth_kb} kB over {volume(w, 1_000)} cycles")


@scenario("close-under-fault", seeds=60)
def close_under_fault(w):
    """A publisher is closed while its peer is stopped, or its link stalled or half-open: close returns in
    time all the same."""
    w.chain("pub", "relay", "sub", shim=True)
    sub = w.subscribe("sub", whole=False)
    pub = w.publish("pub")
    w.await_received(sub, 1_000)
    fault = w.random.choice(["stop", "stall", "vanish", "kill"])
    if fault == "stop":
        w.stop("relay")
    elif fault == "kill":
        w.kill("relay")
    else:
        w.link("pub-relay", fault)
    w.end_publishing(pub)
    w.cuts += 1
    w.close_node(w.nodes["pub"], timeout_ms=w.random.choice([0, 100, 1_000]))
    if fault == "stop":
        w.go_on("relay")
    elif fault != "kill":
        w.link("pub-relay", "heal")


# Not with sanitizers: theirs for undefined behaviour looks at memory through a pipe of its own, and
# takes every object for a broken one where it cannot open it.
@scenario("descriptor-exhaustion", seeds=40, sanitized=False)
def descriptor_exhaustion(w):
    """A relay runs out of descriptors: those who are connected notice nothing, and those who wait outside
    come in once there are some again."""
    w.chain("pub", "relay", "sub")
    sub = w.subscribe("sub")
    pub = w.publish("pub", **STEADY)
    w.await_received(sub, 500)
    held = w.nodes["relay"].ask("resources")["descriptors"]
    before = w.limit("relay", resource.RLIMIT_NOFILE, held + w.random.randint(0, 3))
    guests = [f"guest{i}" for i in range(6)]
    w.start(*guests)
    for name in guests:
        w.connect(name, "relay")
    w.await_published(pub, 3_000)
    w.await_received(sub, 1_000)
    w.limit("relay", resource.RLIMIT_NOFILE, before)
    for name in guests:
        w.await_peers(name, 1)


@scenario("memory-limit", seeds=40, sanitized=False)
def memory_limit(w):
    """Publisher and relay may map no more than 256 MiB beyond what they have (RLIMIT_AS) while a subscriber is
    stopped: bounded queues stay within it."""
    policy = w.random.choice(["block", "drop_oldest", "drop_newest"])
    w.chain("pub", "relay", "sub", policy=policy, capacity=10_000)
    sub = w.subscribe("sub")
    pub = w.publish("pub", per_second=20_000, min_bytes=500, max_bytes=1_500)
    w.await_received(sub, 1_000)
    for name in ("pub", "relay"):
        w.limit(name, resource.RLIMIT_AS, w.mapped_bytes(name) + 256 * 1024 * 1024)
    received = sub.received()
    w.stop("sub")
    if policy == "block":
        w.await_standstill(pub, received)
    else:
        w.await_published(pub, volume(w, 100_000))
    w.go_on("sub")
    w.await_received(sub, 1_000)


@scenario("soak", short_seeds=1, seeds=1)
def soak(w):
    """Ten minutes (--duration) flat out from two publishers through two relays to two subscribers, while
    subscribers and relays are stopped for moments and guests come and go. Nothing is lost."""
    w.chain("pub", "relay", "second", "sub", io_threads=2)
    w.start("other", "late")
    w.connect("other", "relay")
    w.connect("late", "second")
    w.subscribe("sub")
    w.subscribe("late")
    for name in ("pub", "other"):
        pub = w.publish(name, topics=4)
    for _ in w.for_duration(600, short_s=8):
        w.await_published(pub, w.random.randrange(10_000, 100_000))
        name = w.random.choice(["sub", "late", "relay", "second"])
        w.stop(name)
        if w.random.random() < 0.5:
            w.await_standstill(pub)
        w.go_on(name)
        guest = w.subscribe(w.random.choice(["relay", "late"]), whole=False)
        w.await_received(guest, 1_000)
        w.unsubscribe(guest)
