# SPDX-License-Identifier: BSD-3-Clause
"""What a world is made of: nodes, publishers and subscriptions, and what holds for all of a run."""

import os

from . import checker
from .program import PATIENCE_S, ProgramError


class Settings:
    """What holds for all scenarios of a run."""

    def __init__(self, build_dir, short=False, sanitized=False, duration_s=None, plant=None, log=None):
        self.programs = os.path.join(build_dir, "tests", "faults")
        self.short = short
        self.sanitized = sanitized
        self.duration_s = duration_s
        self.plant = plant  # a fault of the subscribers that is to be found
        self.log = log or (lambda text: None)


class Node:
    """A process with one endpoint called main, or several. `listens`: main is a relay, and else a client."""

    def __init__(self, program, scheme, options, listens):
        self.program, self.listens = program, listens
        self.scheme, self.options = scheme, options
        self.port = 0  # of `tcp` and `tls`
        self.address = ""
        self.id = ""
        self.baseline = {key: program.greeting[key] for key in ("threads", "descriptors")}

    @property
    def name(self):
        return self.program.name

    def ask(self, verb, patience_s=PATIENCE_S, **values):
        return self.program.ask(verb, patience_s, **values)

    def lives(self):
        return self.program.child.poll() is None

    def memory_kb(self, key):
        """A value of /proc/PID/status."""
        with open(f"/proc/{self.program.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))


class Publisher:
    """`to`: the node that its messages are for; empty: all that subscribe."""

    def __init__(self, node, number, topics, at, per_second, min_bytes, to):
        self.node, self.id, self.topics, self.at = node, number, topics, at
        self.per_second, self.min_bytes, self.to = per_second, min_bytes, to
        self.last = {}  # topic -> (published, unwanted)

    def look(self):
        """topic -> (published, unwanted); what was known last if the node does not answer now."""
        if self.node.program.stopped or not self.node.lives():
            return self.last
        for each in self.node.ask("report", at=self.at)["publishers"]:
            if each["publisher"] == self.id:
                if each["refused"]:
                    raise ProgramError(f"{self.node.name} refused to publish")
                self.running = each["running"]
                self.last = {topic["topic"]: (topic["published"], topic["unwanted"]) for topic in each["topics"]}
        return self.last

    def published(self):
        return sum(published for published, _ in self.look().values())


class Subscription:
    """`whole`: it was there before anything was published, so that it must get all of it. `isolated`: what
    others make links drop does not concern it."""

    def __init__(self, node, name, topic, at, whole, isolated):
        self.node, self.name, self.topic, self.at = node, name, topic, at
        self.whole, self.isolated = whole, isolated
        self.ended = None  # the last report of one that has unsubscribed

    def report(self):
        if self.ended is not None:
            return self.ended
        reports = self.node.ask("report", at=self.at)["subscribers"]
        return next(each for each in reports if each["name"] == self.name)

    def is_of_client(self):
        return self.at != "main" or not self.node.listens

    def received(self):
        return sum(stream["received"] for stream in self.report()["streams"])

    def seen(self):
        """(publisher, topic) -> one beyond the highest number that came."""
        return {checker.stream_key(stream): stream["next"] for stream in self.report()["streams"]}

    def lives(self):
        return self.ended is not None or self.node.lives()

    def quiet(self):
        """Its report once what the library has handed over is in the history; nothing while it is not."""
        report = self.report()
        return report if report["queued"] == 0 and report["visited"] == report["delivered"] else None
