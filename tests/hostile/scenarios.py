# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios of the fault suite with peers that mean harm. Honest nodes are real processes, and so is their traffic."""

import random
import resource
import statistics
import threading
import time

from harness.registry import require_kept, scenario

from . import attacks, matrix
from .wire import Door

# What a hostile peer may make a node hold (docs/security.md), and as much for what a node uses itself and for what is
# on its way back to the system.
MEMORY_MIB = 768
# Of its rate, in per cent: on a machine that does nothing else, and on one that does.
KEPT, KEPT_BUSY = 95, 50


def honest_chain(w, policy="block"):
    """Two relays between a publisher and a subscriber, 10,000 messages of 100 bytes a second; and the door of one of the
    relays. In some runs it is locked with TLS, and the attacker has a certificate; in others all are on one host, and the
    honest nodes share memory."""
    scheme = w.random.choice(["tcp", "tls", "unix"])
    if scheme == "tls":
        w.certificates.make()
    w.memory_bound_mib = MEMORY_MIB
    w.chain("pub", "first", "second", "sub", scheme=scheme, policy=policy,
            capacity=4_096 if policy == "block" else 20_000)
    sub = w.subscribe("sub", isolated=True)  # what links drop is the attacker's
    w.publish("pub", per_second=10_000, min_bytes=100, max_bytes=100)
    w.await_received(sub, 2_000)
    target = w.random.choice(["first", "second"])
    return sub, target, Door(w.nodes[target].address, w.certificates)


def least_kept(w):
    return KEPT_BUSY if w.settings.short else KEPT


@scenario("hostile-peer", short_seeds=len(attacks.ALL), seeds=5 * len(attacks.ALL))
def hostile_peer(w):
    """A peer of one relay of a chain does what it can to harm: floods, lies, wrong numbers, silence, slow reading, in
    both versions, also inside TLS; each attack has its turn. It harms nobody but itself: every message of the chain
    arrives, and it carries as much as before; how much, in per cent, is among the figures."""
    name = list(attacks.ALL)[w.seed % len(attacks.ALL)]
    sub, target, door = honest_chain(w, attacks.ALL[name].link_policy)
    before = w.throughput(sub, 0.5 if w.settings.short else 1)
    w.fault(f"{name} at {target}, {door.scheme}")
    w.figures["attack"] = name
    seconds = 1 if w.settings.short else 4
    attack = attacks.perform(name, door, w.random.getrandbits(32), attacks.End(seconds))
    during = w.throughput(sub, seconds + 1)  # what has waited comes as well
    attack.join(timeout=10)
    w.require(not attack.is_alive(), f"the attack does not end: {name}")
    w.await_received(sub, 2_000)
    require_kept(w, "kept_percent", round(100 * during / before), least_kept(w), f"the rate of the chain, {name}")


@scenario("hostile-frames", short_seeds=1, seeds=8)
def hostile_frames(w):
    """A peer of one relay of a chain tries every kind of frame in every state of a connection, about itself, about
    honest nodes and about those that are not there, with numbers at every edge, and cut off: thousands of connections of
    one version, also inside TLS. Nothing of the chain is lost or held up, and a node that comes later is part of it as
    any other."""
    sub, target, door = honest_chain(w)
    before = w.throughput(sub, 1)
    version = w.random.choice([1, 2])
    w.fault(f"every frame of version {version} at {target}, {door.scheme}")
    tried, kept = [], []
    end = attacks.End(30 if w.settings.sanitized else 10 if w.settings.short else 300)
    rng = random.Random(w.random.getrandbits(32))
    attacker = threading.Thread(daemon=True, target=lambda: tried.append(matrix.try_all(door, rng, version, end)))
    attacker.start()
    while attacker.is_alive():
        kept.append(round(100 * w.throughput(sub, 1) / before))
    w.figures["cases"] = tried[0] if tried else 0
    w.require(w.figures["cases"] > (20 if w.settings.sanitized else 200), f"only {w.figures['cases']} cases were tried")
    w.start("late", scheme=door.scheme)
    w.connect("late", target)
    w.await_received(w.subscribe("late", whole=False), 1_000)
    require_kept(w, "kept_percent", round(statistics.median(kept)), least_kept(w), "the rate of the chain")


@scenario("hostile-crowd", short_seeds=1, seeds=8, sanitized=False)
def hostile_crowd(w):
    """Ten thousand connections to a relay are opened and left silent. A node that comes then is a peer within a second,
    and gets its messages; how long it took, in milliseconds, is among the figures."""
    sub, target, door = honest_chain(w)
    crowd = 10_000
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = before[1] if before[1] != resource.RLIM_INFINITY else crowd + 1_000
    crowd = min(crowd, most - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (crowd + 500, before[1]))
    held = []
    try:
        w.fault(f"{crowd} silent connections at {target}, {door.scheme}")
        for _ in range(crowd):
            held.append(door.knock())
        w.start("late", scheme=door.scheme)
        begin = time.monotonic()
        w.connect("late", target)
        w.await_peers("late", 1)
        w.figures["admitted_ms"] = round(1_000 * (time.monotonic() - begin))
        w.require(w.figures["admitted_ms"] < 1_000, f"an honest node was admitted only after {w.figures['admitted_ms']} ms")
        w.await_received(w.subscribe("late", whole=False), 1_000)
        w.await_received(sub, 1_000)
    finally:
        for each in held:
            each.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
