# SPDX-License-Identifier: BSD-3-Clause
"""A group of replicas and its clients in a World, and the check of what they have written down."""

import os
import tempfile

from .program import Stuck, wait_until, wait_while_growing

SCHEMES = ("version_request", "message_returns_version", "one_hop", "one_hop_ack_client", "tagged")
SILENCE_MS = 500
TIMEOUT_MS = 60_000
# Of each client, at first: flat out for seconds, and with what is allowed later all clients together stay below the
# million messages that a replica keeps, however fast the machine is. One that starts again needs all of them.
FLAT_OUT = 100_000
NOBODY = "00000000-0000-0000-0000-000000000000"


class ReplicaGroup:
    """Replicas at nodes of their own around a hub, and a node with a client of every scheme."""

    def __init__(self, w, names):
        self.w, self.names = w, names
        self._folder = tempfile.TemporaryDirectory()
        self._histories = []  # (replica, file), of every life of every replica
        self._acknowledged = []
        w.start("hub")
        for name in names:
            self.start_replica(name, new=True)
        w.start("clients")
        w.connect("clients", "hub")

    def _file(self, name):
        return os.path.join(self._folder.name, name)

    def start_replica(self, name, new=False):
        self.w.start(name)
        if new:
            self.w.connect(name, "hub")
        else:
            self.w.reconnect(name)
        file = self._file(f"{name}{len(self._histories)}")
        self._histories.append((name, file))
        self.w.nodes[name].ask("replica", group="g", id=name, silence_ms=SILENCE_MS, file=file)

    def start_clients(self):
        for scheme in SCHEMES:
            file = self._file(scheme)
            self._acknowledged.append(file)
            self.w.nodes["clients"].ask("send", group="g", scheme=scheme, window=self.w.random.choice([1, 10, 1_000]),
                                        timeout_ms=TIMEOUT_MS, file=file)
        self._allow(FLAT_OUT)

    def _allow(self, messages):
        self.w.nodes["clients"].ask("allow", messages=messages)

    # -- waiting -----------------------------------------------------------------------------------

    def _replicas(self):
        return {name: self.w.nodes[name].ask("versions")["replica"] for name in self.names
                if not self.w.nodes[name].program.stopped and self.w.nodes[name].lives()}

    def _clients(self):
        return self.w.nodes["clients"].ask("versions")["clients"]

    def _count(self):
        return sum(each["acknowledged"] for each in self._clients())

    def await_acknowledged(self, more):
        self.w.log(f"until {more} more are acknowledged")
        self._allow(more)
        goal = self._count() + more
        if not wait_while_growing(self._count, lambda: self._count() >= goal):
            raise Stuck(f"{self._count()} messages are acknowledged and not {goal}: {self._replicas()}")

    def _all_are_members(self):
        all_of = self._replicas().values()
        return (len(all_of) == len(self.names) and all(each["state"] == "member" for each in all_of)
                and any(each["sequencer"] and each["replicas"] == len(self.names) for each in all_of))

    def await_members(self):
        self.w.log("until all replicas are members")
        if not wait_until(self._all_are_members):
            raise Stuck(f"not all replicas are members: {self._replicas()}")

    def sequencer(self):
        return next((name for name, each in self._replicas().items() if each["sequencer"]), self.names[0])

    # -- the end -----------------------------------------------------------------------------------

    def finish(self):
        self.w.nodes["clients"].ask("stop_sending")
        if not wait_while_growing(self._count, lambda: all(each["settled"] for each in self._clients())):
            raise Stuck(f"clients do not come to an end: {self._clients()}, {self._replicas()}")
        last = self._count()
        if not wait_until(lambda: len({each["applied"] for each in self._replicas().values()}) == 1):
            raise Stuck(f"replicas do not come to the same end: {self._replicas()}")
        for each in self._clients():
            self.w.require(each["failed"] == 0, f"{each['failed']} messages of {each['scheme']} failed")
        self.w.count_messages(last)
        self.w.violations += check_histories(self._histories, self._acknowledged)
        self._folder.cleanup()


def records(file):
    """(number, (epoch, client, client number)); a last line that was cut off is left out."""
    with open(file, encoding="ascii") as text:
        for line in text:
            if line.endswith("\n"):
                number, *rest = line.split()
                yield int(number), tuple(rest)


def check_histories(histories, acknowledged):
    """Every replica's numbers are contiguous from 1 on, all agree, no message is there twice, and what was
    acknowledged is among them."""
    versions = {}
    for name, file in histories:
        expected = 1
        for number, message in records(file):
            if number != expected:
                yield f"{name} hands out number {number} and not {expected}"
            expected = number + 1
            if versions.setdefault(number, message) != message:
                yield f"{name} hands out {message} as number {number}, another one {versions[number]}"
    messages = [(client, number) for _, client, number in versions.values() if client != NOBODY]
    if len(set(messages)) != len(messages):
        yield f"{len(messages) - len(set(messages))} messages have two versions"
    for file in acknowledged:
        missing = [number for number, message in records(file) if versions.get(number) != message]
        if missing:
            yield f"{len(missing)} acknowledged messages of {os.path.basename(file)} are not there, e.g. number {missing[0]}"
