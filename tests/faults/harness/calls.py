# SPDX-License-Identifier: BSD-3-Clause
"""Instances of a service and their clients in a World, and the check of what both have written down."""

import collections
import os
import tempfile
import time

from .program import PATIENCE_S, Stuck, wait_until, wait_while_growing

MODES = ("sync", "bulk", "async", "pipeline", "hybrid", "auto")
# The relay each process is connected to.
SERVERS = {"a": "east", "b": "west", "c": "beyond"}
CLIENTS = {"x": "east", "y": "west"}
RELAYS = ("east", "west", "beyond")
TOPIC = "remote/service/s/"  # by which clients know that somebody serves
SILENCE_MS = 1_000
TIMEOUT_MS = 15_000
# Beyond its timeout a call may take as long as a machine that is busy takes to notice it.
MARGIN_S = 3.0
# In which "nobody serves this" is told once the client knows; well below any timeout.
AT_ONCE_S = 2.0

# What becomes of calls where instances are lost. After those of the second line they may have been done.
ERRORS = {"no_such_service", "cancelled", "request_timeout", "service_lost", "service_lost_often"}
PERHAPS_DONE = ERRORS - {"no_such_service"}

# Times in seconds, as time.monotonic() has them.
Call = collections.namedtuple("Call", "number operation begin end timeout told by")


class ServiceCalls:
    """Three instances of a service, each at a node of its own, around relays in a row; and two nodes with
    clients of every mode."""

    def __init__(self, w):
        self.w = w
        self._folder = tempfile.TemporaryDirectory()
        self._noted = []  # (server, file), of every life of every server
        self._told = {}  # client -> file
        self._cuts = []  # (node of clients, begin, end): times in which they had no way to anybody
        self._gone = None
        w.start(*RELAYS)
        for one, other in zip(RELAYS, RELAYS[1:]):
            w.connect(one, other)
        for name, relay in SERVERS.items():
            w.start(name)
            w.connect(name, relay)
            self._serve(name)

    def _file(self, name):
        return os.path.join(self._folder.name, name)

    def _serve(self, name):
        life = f"{name}{len(self._noted)}"
        self._noted.append((life, self._file(life)))
        self.w.nodes[name].ask("serve", service="s", name=life, file=self._file(life), plant=self.w.settings.plant,
                               workers=self.w.random.choice([1, 2, 4]), work_us=self.w.random.choice([0, 20, 200]))

    def start_clients(self):
        for name, relay in CLIENTS.items():
            self.w.start(name)
            self.w.connect(name, relay)
            for mode in MODES:
                client = f"{name}-{mode}"
                self._told[client] = self._file(client)
                self.w.nodes[name].ask("call", service="s", name=client, mode=mode, file=self._file(client),
                                       instances=len(SERVERS), per_second=self.w.random.choice([200, 1_000]),
                                       seed=self.w.random.getrandbits(32), timeout_ms=TIMEOUT_MS, silence_ms=SILENCE_MS,
                                       plant=self.w.settings.plant)

    # -- waiting -----------------------------------------------------------------------------------

    def _callers(self):
        return [each for name in CLIENTS for each in self.w.nodes[name].ask("calls")["callers"]]

    def _count(self):
        return sum(each["written"] for each in self._callers())

    def await_calls(self, more):
        self.w.log(f"until {more} more calls are complete")
        goal = self._count() + more
        if not wait_while_growing(self._count, lambda: self._count() >= goal):
            raise Stuck(f"{self._count()} calls are complete and not {goal}: {self._callers()}")

    def await_instances(self, n=len(SERVERS)):
        self.w.log(f"until all clients know {n} instances")
        if not wait_until(lambda: all(each["instances"] == n for each in self._callers())):
            raise Stuck(f"not all clients know {n} instances: {self._callers()}")

    # -- faults ------------------------------------------------------------------------------------

    def break_something(self):
        random = self.w.random
        name = random.choice(RELAYS if random.random() < 0.25 else list(SERVERS))
        what = random.random()
        if what < 0.35:
            self._stop(name)
        elif name in RELAYS:
            self._kill_relay(name)
        else:
            self._kill_server(name, leaves=what > 0.8)
        for client in CLIENTS:
            self.w.nodes[client].ask("wait", topic=TOPIC, n=len(SERVERS), timeout_ms=int(PATIENCE_S * 900))
        self.await_instances()

    def _let_calls_go_on(self):
        if self.w.random.random() < 0.7:
            self.await_calls(self.w.random.randrange(100, 3_000))

    def _stop(self, name):
        self.w.stop(name)
        self._let_calls_go_on()
        self.w.go_on(name)

    def _kill_server(self, name, leaves):
        if leaves:
            self.w.fault(f"{name} stops serving")
            self.w.nodes[name].ask("stop_serving")
        self.w.kill(name)
        self._let_calls_go_on()
        self.w.start(name)
        self.w.reconnect(name)
        self._serve(name)

    def _kill_relay(self, name):
        """Its clients have a way again once they have noticed that they had none, and found one."""
        clients = [client for client, relay in CLIENTS.items() if relay == name]
        begin, before = time.monotonic(), {client: self._losses(client) for client in clients}
        self.w.kill(name)
        self._let_calls_go_on()
        self.w.start(name)
        self.w.reconnect(name)
        for client in clients:
            if not wait_until(lambda client=client: self._losses(client) > before[client]):
                raise Stuck(f"{client} does not notice that {name} is gone")
            self.w.nodes[client].ask("wait", topic=TOPIC, n=len(SERVERS), timeout_ms=int(PATIENCE_S * 900))
        self.await_instances()
        self._cuts += [(client, begin, time.monotonic()) for client in clients]

    def _losses(self, name):
        return self.w.nodes[name].ask("report")["peers_lost"]

    def end_of_service(self):
        """All instances are gone for good: clients come to know it, and every call is told so."""
        names = list(SERVERS)
        self.w.random.shuffle(names)
        begin = time.monotonic()
        for name in names:
            self.w.kill(name)
        self.await_instances(0)
        self._gone = (begin, time.monotonic())
        before = {each["name"]: each["written"] for each in self._callers()}
        if not wait_until(lambda: all(each["written"] > before[each["name"]] for each in self._callers())):
            raise Stuck(f"calls of a service that is gone do not end: {self._callers()}")

    # -- the end -----------------------------------------------------------------------------------

    def finish(self):
        for name in CLIENTS:
            self.w.nodes[name].ask("stop_calling")
        if not wait_while_growing(self._count, lambda: not any(each["running"] for each in self._callers())):
            raise Stuck(f"calls do not come to an end: {self._callers()}")
        told = {client: calls_in(file) for client, file in self._told.items()}
        noted = [(server, notes_in(file)) for server, file in self._noted]
        for each in self._callers():
            self.w.violations += check_counted(each, told[each["name"]])
        self.w.violations += check_calls(noted, told, self._cuts, self._gone)
        self.w.count_messages(self._count())
        self._count_figures(told)
        self._folder.cleanup()

    def _count_figures(self, told):
        counted = collections.Counter((each.operation == "note", each.told) for calls in told.values() for each in calls)
        self.w.figures.update({f"{'note' if note else 'repeatable'}_{how}": n for (note, how), n in sorted(counted.items())})
        self.w.figures["repeated"] = sum(each["repeated"] for each in self._callers())
        self.w.figures["slowest_ms"] = round(1000 * max(each.end - each.begin for calls in told.values() for each in calls))


# -- what was written down ---------------------------------------------------------------------------

def whole_lines(file):
    """A last line that was cut off is left out."""
    with open(file, encoding="ascii") as text:
        return [line.split() for line in text if line.endswith("\n")]


def notes_in(file):
    """(client, number) of what a server has done and cannot be repeated."""
    return [(client, int(number)) for client, number in whole_lines(file)]


def calls_in(file):
    return [Call(int(number), operation, int(begin) / 1e6, int(end) / 1e6, int(timeout) / 1e6, told, by)
            for number, operation, begin, end, timeout, told, by in whole_lines(file)]


# -- the check ---------------------------------------------------------------------------------------

def check_counted(report, calls):
    """What a client counts is what it was told, and nothing is left."""
    name, done = report["name"], sum(each.told in ("result", "wrong") for each in calls)
    if report["submitted"] != report["done"] + report["failed"] or report["unfinished"]:
        yield (f"{name}: submitted {report['submitted']} is not done {report['done']} + failed {report['failed']}, and "
               f"{report['unfinished']} are unfinished")
    if (report["done"], report["failed"]) != (done, len(calls) - done):
        yield (f"{name}: counts {report['done']} done and {report['failed']} failed, but {done} of {len(calls)} calls were told "
               "a result")


def check_calls(noted, told, cuts=(), gone=None):
    """`noted`: what each server did that cannot be repeated. `told`: what became of the calls of each client, whose name
    begins with that of its node. `cuts`: times in which a node had no way to any server. `gone`: since when there were no
    servers, and when all clients knew."""
    done_by = collections.defaultdict(list)
    for server, notes in noted:
        for note in notes:
            done_by[note].append(server)
    for client, calls in told.items():
        yield from summed(client, check_completion(calls))
        yield from summed(client, check_done_once(client, calls, done_by))
        own = [(begin, end) for node, begin, end in cuts if node == client.split("-")[0]]
        yield from summed(client, check_failures(calls, own, gone))
    asked = {(client, each.number) for client, calls in told.items() for each in calls if each.operation == "note"}
    strangers = done_by.keys() - asked
    if strangers:
        yield f"{len(strangers)} operations were done that nobody has asked for, e.g. {min(strangers)}"


def summed(client, findings):
    """A sentence for each kind of finding, of which there may be thousands: (kind, call)."""
    by_kind = collections.defaultdict(list)
    for kind, call in findings:
        by_kind[kind].append(call)
    for kind, calls in by_kind.items():
        yield f"{client}: {len(calls)} calls {kind}, e.g. {calls[0]}"


def check_completion(calls):
    """Every call was told something, once, in time, and what belongs to it."""
    numbers = collections.Counter(each.number for each in calls)
    for each in calls:
        if numbers[each.number] > 1 or each.number > len(calls):
            yield "do not have their own place among what was told", each
        if each.end - each.begin > each.timeout + MARGIN_S:
            yield "took longer than their timeout", each
        if each.told == "wrong":
            yield "were told the result of another", each
        elif each.told != "result" and each.told not in ERRORS:
            yield f"were told {each.told}", each


def check_done_once(client, calls, done_by):
    """At most once; and what was told is so."""
    for each in calls:
        if each.operation != "note":
            continue
        servers = done_by.get((client, each.number), [])
        if len(servers) > 1:
            yield "were done more than once", (*each, servers)
        elif each.told == "result" and servers != [each.by]:
            yield "have a result of a server that has not done them", (*each, servers)
        elif servers and each.told not in PERHAPS_DONE and each.told not in ("result", "wrong"):
            yield f"were done, although told {each.told}", (*each, servers)


def check_failures(calls, cuts, gone):
    """Calls fail only for a reason: what can be repeated has a result as long as anybody is there."""
    begin, known = gone or (float("inf"), float("inf"))
    for each in calls:
        if each.end > known and each.end > max(each.begin, known) + AT_ONCE_S:
            yield "were not told at once that nobody is there", each
        if each.begin > known and each.told not in ("no_such_service", "cancelled"):
            yield f"were told {each.told} although nobody is there", each
        if each.told == "request_timeout" and each.end - each.begin < each.timeout:
            yield "were told that it is too late before it was", each
        cut = each.end > begin or any(each.end > start and each.begin < end for start, end in cuts)
        if each.told == "no_such_service" and not cut:
            yield "were told that nobody is there although somebody was", each
        if each.told == "service_lost" and each.operation != "note":
            yield "were given up although they can be repeated", each
